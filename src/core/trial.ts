// What a test of an upstream asks, and what an answer proves: one short request for each feature of
// a model. `upstream/trial.ts` sends them.

import type { Answer, GenerationRequest } from './generation.ts';
import { isObject, parseJson } from './json.ts';
import type { ModelFeature } from './model.ts';

/** The bound of each request. */
export const TRIAL_TOKENS = 64;

export const TRIAL_FEATURES: readonly ModelFeature[] = ['tools', 'json', 'vision', 'reasoning'];

export type TrialFeature = 'text' | ModelFeature;

/** What one request has shown. */
export type TrialResult = {
  /** The position of the key in the catalog. */
  readonly credential: string;
  readonly feature: TrialFeature;
  readonly stream: boolean;
  readonly ok: boolean;
  /** What the upstream said, or what is missing. */
  readonly detail: string | null;
  /** The counts of the usage report, by name; null without a report. */
  readonly usage: readonly string[] | null;
  readonly first_content_ms: number | null;
  readonly duration_ms: number;
};

/** 64 × 64 red pixels: some vendors refuse smaller images. */
const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC';

const TOOL = {
  name: 'report',
  description: 'Reports whether all is well.',
  parameters: { type: 'object', properties: { well: { type: 'boolean' } }, required: ['well'] },
};

/** What the request for a feature adds to a plain one. */
export const TRIAL_REQUESTS: Readonly<Record<TrialFeature, Partial<GenerationRequest>>> = {
  text: { turns: asking('Say hello in one word.') },
  tools: {
    turns: asking('All is well. Report it with the tool.'),
    tools: [TOOL],
    toolChoice: { kind: 'required' },
  },
  json: {
    turns: asking('Answer with the JSON object {"well": true} and nothing else.'),
    json: true,
  },
  vision: { turns: asking('Name the colour of this image in one word.', IMAGE) },
  reasoning: { turns: asking('Which is larger, 9.9 or 9.11?'), reasoning: 'low' },
};

function asking(text: string, ...images: string[]): GenerationRequest['turns'] {
  const shown = images.map((url) => ({ kind: 'image' as const, url }));
  return [{ role: 'user', parts: [...shown, { kind: 'text', text }] }];
}

const CUT = `cut at ${TRIAL_TOKENS} tokens, which is too early to tell`;

/** Whether a complete answer has what was asked for. */
export function judgeTrial(
  feature: TrialFeature,
  answer: Answer,
): Pick<TrialResult, 'ok' | 'detail'> {
  const missing = missingIn(feature, answer);
  if (missing === undefined) return { ok: true, detail: null };
  if (answer.finish === 'length') return { ok: true, detail: CUT };
  // Models that choose their depth need no thinking for a short answer.
  return { ok: feature === 'reasoning', detail: missing };
}

function missingIn(
  feature: TrialFeature,
  { text, reasoning, toolCalls, usage }: Answer,
): string | undefined {
  if (feature === 'tools') return toolCalls.length > 0 ? undefined : 'the answer calls no tool';
  if (feature === 'json') {
    return isObject(parseJson(text)) ? undefined : 'the answer is not a JSON object';
  }
  if (reasoning !== '') return undefined;
  if (feature !== 'reasoning') return text === '' ? 'the answer is empty' : undefined;
  const thought = usage?.basis === 'reported' && usage.reasoningTokens > 0;
  return thought ? undefined : 'the answer shows and counts no thinking';
}

/** The names of the reported counts, such as `prompt_tokens_details.cached_tokens`. */
export function reportedCounts({ usage, rawUsage = '' }: Answer): readonly string[] | null {
  return usage === undefined ? null : namesIn(parseJson(rawUsage), '');
}

function namesIn(value: unknown, prefix: string): readonly string[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    isObject(each) ? namesIn(each, `${prefix}${name}.`) : [`${prefix}${name}`],
  );
}
