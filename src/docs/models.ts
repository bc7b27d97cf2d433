// Puts the models of a service into examples, which are written with those of the demonstration.

import type { Model, ModelFeature } from '../core/model.ts';

export type ShownModel = Pick<Model, 'slug' | 'features'>;

const EXAMPLES = /demo-(chat|reasoner)/g;

/** What a request has in it that not every model can do. */
const SIGNS: Readonly<Record<Exclude<ModelFeature, 'reasoning'>, RegExp>> = {
  tools: /"tools": ?\[|tool_call|tool_use/,
  json: /"response_format"/,
  vision: /"type": ?"image(_url)?"/,
};

/** The features that the code of a page asks for. */
export function featuresIn(code: string): readonly ModelFeature[] {
  return Object.entries(SIGNS).flatMap(([feature, sign]) =>
    sign.test(code) ? [feature as ModelFeature] : [],
  );
}

/**
 * A text with models of this service: the first that has all of `features`, or else most of them. The
 * demonstration's names stay where there is no model.
 */
export function withModels(
  text: string,
  features: readonly ModelFeature[],
  models: readonly ShownModel[],
): string {
  const chat = fitting(models, features)?.slug;
  const reasoner = fitting(models, ['reasoning', 'reasoning', ...features])?.slug;
  return text.replaceAll(EXAMPLES, (name, kind) => (kind === 'chat' ? chat : reasoner) ?? name);
}

/** Thinking counts twice, so that it decides between two models that each lack something. */
function fitting(
  models: readonly ShownModel[],
  features: readonly ModelFeature[],
): ShownModel | undefined {
  const count = (model: ShownModel) => features.filter((each) => model.features.has(each)).length;
  const most = Math.max(...models.map(count));
  return models.find((model) => count(model) === most);
}
