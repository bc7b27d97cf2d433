// The answers of the scripted upstream, and what a client of any format gets of them.

import { expect } from 'bun:test';

export type Fields = Readonly<Record<string, unknown>>;

/** What a model says, in the pieces of the upstream's stream. */
export type Part =
  | { readonly kind: 'reasoning'; readonly pieces: readonly string[] }
  | { readonly kind: 'text'; readonly pieces: readonly string[] }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly name: string;
      readonly pieces: readonly string[];
    };

export type Said = {
  readonly parts: readonly Part[];
  /** In the words of the chat format. */
  readonly finish: string;
  readonly reasoningTokens?: number;
};

export type Shape = {
  /** The text of a request with every field that has an effect, and what all formats have. */
  readonly everything: (model: string) => string;
  /** What the upstream receives of it that not all formats can say. */
  readonly askedBesides: Fields;
  /** Fields without any effect, and nulls. */
  readonly ignored: Fields;
  readonly endUser: Fields;
  readonly required: readonly string[];
  /** The envelope of an error. */
  readonly refusal: (error: Fields) => Fields;
  readonly whole: (model: string, said: Said, sent?: Fields) => Fields;
  /** The data of every event. */
  readonly stream: (model: string, said: Said, more?: { fallback?: boolean }) => unknown[];
  /** The error at the end of a stream that failed, by the data of its events. */
  readonly failure: (data: readonly unknown[]) => unknown;
  /** How many events begin a stream, and how many come before the first piece of text. */
  readonly opening: { readonly answer: number; readonly text: number };
  /** Whether the data of an event is a heartbeat. */
  readonly isBeat: (data: unknown) => boolean;
};

export const HELLO_PART: Part = { kind: 'text', pieces: ['Hello ', 'from ', 'upstream.'] };
const THOUGHTS: Part = { kind: 'reasoning', pieces: ['Let me think ', 'about it.'] };
const WEATHER: Part = {
  kind: 'call',
  id: 'call_1',
  name: 'get_weather',
  pieces: ['{"city":', '"Paris"}'],
};
const TIME: Part = { kind: 'call', id: 'call_2', name: 'get_time', pieces: ['{"zone":"CET"}'] };

/** The models of the scripted upstream, and what each says. */
export const ANSWERS: readonly (Said & { readonly model: string })[] = [
  { model: 'ok', parts: [HELLO_PART], finish: 'stop' },
  { model: 'reasoning', parts: [THOUGHTS, HELLO_PART], finish: 'stop', reasoningTokens: 2 },
  { model: 'tool', parts: [WEATHER], finish: 'tool_calls' },
  { model: 'two-tools', parts: [WEATHER, TIME], finish: 'tool_calls' },
  { model: 'text-and-tool', parts: [HELLO_PART, WEATHER], finish: 'tool_calls' },
  { model: 'reasoning-and-tool', parts: [THOUGHTS, WEATHER], finish: 'tool_calls' },
  { model: 'finish-length', parts: [HELLO_PART], finish: 'length' },
  { model: 'content-filter', parts: [HELLO_PART], finish: 'content_filter' },
  { model: 'no-content', parts: [], finish: 'stop' },
];

export const BILL = { svc_tokens_debited: '16.4', svc_cost_usd: '0.0000164' };

/** The bill at the end of a stream. */
export function streamedBill(fallback = false): Fields {
  return {
    ...BILL,
    svc_balance_tokens: expect.stringMatching(/^\d+(\.\d+)?$/),
    svc_fallback_used: fallback,
    svc_outcome: 'completed',
  };
}

/** What a model of `ANSWERS` says. */
export function answerOf(slug: string): Said {
  const found = ANSWERS.find(({ model }) => model === slug);
  if (found === undefined) throw new Error(`there is no answer of ${slug}`);
  const { model: _, ...said } = found;
  return said;
}
