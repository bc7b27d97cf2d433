// What each generation of Anthropic's models takes, and the refusals of the rest.
//
// Since Opus 4.7 any temperature, top_p or top_k is 400; 4.5 and 4.6 take one of them. Since 4.6 the
// last turn must be the user's. Opus 5.5, Sonnet 5.5, Fable and Mythos 5.1 and 5.2 always think and
// refuse a forced tool; Sonnet 5.5 has `between_tools` as the least. Haiku 5.5 and Opus 5 are switched off
// only at efforts up to high. Budgets are taken by 4.5 and 4.6 alone.
// From: whats-new-opus-5-5 of the vendor's guides; types of @anthropic-ai/sdk 1.14.0; the catalog of
// @ai-sdk/anthropic 4.0.105 and LiteLLM 1.110.2 (28 November 2026). The wording of the refusals of
// forced tools and of a last assistant turn is not documented.

import type { MessagesBody } from './messages-body.ts';
import { fresh } from './script.ts';
import { type Json, Refusal } from './server.ts';

export type Generation = {
  readonly off: 'yes' | 'to_high' | 'no';
  readonly budget: boolean;
  readonly adaptive: boolean;
  readonly between: boolean;
  readonly forced: boolean;
  readonly prefill: boolean;
  readonly sampling: 'none' | 'one';
  /** Whether thinking is bound to everything before it. */
  readonly binds: boolean;
  readonly thinksUnasked: boolean;
  readonly efforts: readonly string[];
};

const ADAPTIVE: Generation = {
  off: 'yes',
  budget: false,
  adaptive: true,
  between: false,
  forced: true,
  prefill: false,
  sampling: 'none',
  binds: false,
  thinksUnasked: false,
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
};
const ALWAYS: Generation = {
  ...ADAPTIVE,
  off: 'no',
  forced: false,
  binds: true,
  thinksUnasked: true,
};
const BUDGETS: Generation = {
  ...ADAPTIVE,
  budget: true,
  adaptive: false,
  prefill: true,
  sampling: 'one',
  efforts: [],
};

/** The first that fits the model's name. */
const GENERATIONS: readonly (readonly [RegExp, Generation])[] = [
  [/sonnet-5-5/, { ...ALWAYS, between: true }],
  [/opus-5-5|(fable|mythos)-5-[12]/, ALWAYS],
  [/haiku-5-5/, { ...ADAPTIVE, off: 'to_high', binds: true, thinksUnasked: true }],
  [/(fable|mythos)-5/, { ...ADAPTIVE, off: 'no', thinksUnasked: true }],
  [/opus-5/, { ...ADAPTIVE, off: 'to_high', thinksUnasked: true }],
  [/sonnet-5/, { ...ADAPTIVE, thinksUnasked: true }],
  [/opus-4-[78]/, ADAPTIVE],
  [
    /-4-6/,
    { ...ADAPTIVE, budget: true, sampling: 'one', efforts: ['low', 'medium', 'high', 'max'] },
  ],
  [/opus-4-5/, { ...BUDGETS, efforts: ['low', 'medium', 'high'] }],
];

/** The generation of a model. */
export function generationOf(model: string): Generation {
  return GENERATIONS.find(([name]) => name.test(model))?.[1] ?? BUDGETS;
}

/** Whether the model thinks about this request. */
export function thinksAbout(body: MessagesBody, generation: Generation): boolean {
  const type = body.thinking?.type;
  return type === undefined ? generation.thinksUnasked : type !== 'disabled';
}

/** A refusal in the vendor's envelope. */
export function refusal(
  message: string,
  { status = 400, type = 'invalid_request_error', headers = {} }: Envelope = {},
): Refusal {
  const body: Json = { type: 'error', error: { type, message }, request_id: fresh('req_') };
  return new Refusal(status, body, headers);
}

type Envelope = {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

function unsupported(type: string): Refusal {
  return refusal(
    `"thinking.type.${type}" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`,
  );
}

/** Checks thinking and effort. */
export function checkThinking(body: MessagesBody, generation: Generation): void {
  const { type, budget_tokens: budget = 0 } = body.thinking ?? {};
  const effort = body.output_config?.effort;
  const isDeep = effort === 'xhigh' || effort === 'max';
  const { off, efforts } = generation;
  switch (type) {
    case 'disabled':
      if (off === 'no' || (off === 'to_high' && isDeep)) throw unsupported(type);
      break;
    case 'enabled':
      if (!generation.budget) throw unsupported(type);
      if (budget < 1_024) {
        throw refusal('thinking.enabled.budget_tokens: Input should be at least 1024');
      }
      if (budget >= (body.max_tokens ?? 0)) {
        throw refusal('`max_tokens` must be greater than `thinking.budget_tokens`.');
      }
      break;
    case 'adaptive':
      if (!generation.adaptive) throw refusal('adaptive thinking is not supported on this model');
      break;
    case 'between_tools':
      if (!generation.between || isDeep) throw unsupported(type);
  }
  if (effort == null) return;
  if (efforts.length === 0) throw refusal('This model does not support the effort parameter.');
  if (!efforts.includes(effort)) {
    throw refusal(`output_config.effort: Input should be ${efforts.join(', ')}`);
  }
}

/** Checks forced tools, the last turn and sampling. */
export function checkControls(body: MessagesBody, generation: Generation): void {
  const { thinking, temperature, top_p: topP, top_k: topK } = body;
  const isForced = ['any', 'tool'].includes(body.tool_choice?.type ?? '');
  if (isForced && !generation.forced) {
    throw refusal('tool_choice forces tool use, which is not supported for this model.');
  }
  if (isForced && thinking !== undefined && thinksAbout(body, generation)) {
    throw refusal('Thinking may not be enabled when tool_choice forces tool use.');
  }
  const isBegun = body.messages.at(-1)?.role === 'assistant';
  if (isBegun && (!generation.prefill || thinking?.type === 'enabled')) {
    throw refusal(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  }
  if (generation.sampling === 'none' && (temperature ?? topP ?? topK) != null) {
    throw refusal('`temperature`, `top_p` and `top_k` are not supported for this model.');
  }
  if (temperature != null && topP != null) {
    throw refusal('`temperature` and `top_p` cannot both be specified for this model.');
  }
  if (thinking?.type === 'enabled' && temperature != null && temperature !== 1) {
    throw refusal('`temperature` may only be set to 1 when thinking is enabled.');
  }
}
