// How the tests of this folder use a published client library: how it reads an answer, which tool
// rounds it makes by itself, and where its view differs from the bytes sent. One object a library
// and major version; contract.ts runs the same tables on each.

import { expect } from 'bun:test';
import { HELLO, REASONING } from '../support/behaviours.ts';
import type { Caller, EveryFormat } from '../support/client.ts';

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Where a library is pointed to. Without `maxRetries` it must not retry. */
export type Connection = Caller & {
  readonly maxRetries?: number;
  readonly fetch?: Fetch;
  readonly signal?: AbortSignal;
};

/** The arguments of a call as JSON without spaces, which is how the upstream writes them. */
type Call = { readonly id: string; readonly name: string; readonly json: string };

type Usage = { readonly input: number; readonly cached: number; readonly output: number };

/** What a library made of an answer. */
export type Reading = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
  /** In the library's own word. */
  readonly finish: string;
  /** `null` where the library has none. */
  readonly usage: Usage | null;
  /** `svc_tokens_debited` as a user of the library finds it; `null` where it lets none through. */
  readonly debited: string | null;
};

/** What a library shows less of, or otherwise, than what was sent to it. */
export type View = {
  readonly reasoning?: 'last piece' | 'none';
  readonly usage?: Usage;
  readonly debited?: null;
  /** Whether the bill is in sight when the client wants no usage; as `debited` where absent. */
  readonly debitedWithoutUsage?: null;
  /** The code of an error in the middle of a stream. */
  readonly streamErrorCode?: null;
  /** What it makes of an answer that its length cut, where it takes that for no end. */
  readonly cut?: Partial<Reading>;
};

export type Way = {
  readonly name: string;
  readonly streamed: boolean;
  readonly view?: View;
  /** Asks with both tools offered. Throws the error that the library reports. */
  readonly ask: (connection: Connection, model: string) => Promise<Reading>;
};

export type Round = {
  readonly name: string;
  /** What of the thinking goes back with the call that it led to. */
  readonly replays: 'all' | 'last piece' | 'none';
  /** How many requests it takes; two unless it needs setup first. */
  readonly requests?: number;
  /** Asks, runs the tool that is called, sends its result, and returns the last answer's text. */
  readonly run: (connection: Connection, tool: Tool) => Promise<string>;
};

export type Tool = (input: { readonly city: string }) => string;

/** An error in the words of all libraries; `null` for what a library does not tell. */
export type Failure = {
  readonly name: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly message: string;
  readonly requestId: string | null;
};

export type Library = {
  readonly name: string;
  readonly format: EveryFormat;
  readonly ways: readonly Way[];
  readonly rounds: readonly Round[];
  /** The library's words for the reasons why an answer ends. */
  readonly finish: Readonly<Record<'stop' | 'length' | 'tool_calls', string>>;
  /** The name of the error for each status, and for codes that have one of their own. */
  readonly errors: Readonly<Record<string, string>>;
  readonly failure: (error: unknown) => Failure;
  /** How often it asks when it may retry once and is asked not to; once unless it does not listen. */
  readonly asksAgainWhenTold?: number;
};

/** What the upstream says for a model of this name. */
export type Answer = {
  readonly model: string;
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly Call[];
  readonly finish?: keyof Library['finish'];
  readonly reportsNoUsage?: true;
  /** The upstream gives no whole answers of this kind. */
  readonly onlyStreamed?: true;
};

const PARIS: Call = { id: 'call_1', name: 'get_weather', json: '{"city":"Paris"}' };
const CET: Call = { id: 'call_2', name: 'get_time', json: '{"zone":"CET"}' };
const calls = (...list: readonly Call[]) => ({ calls: list, finish: 'tool_calls' as const });

export const ANSWERS: readonly Answer[] = [
  { model: 'ok', text: HELLO },
  { model: 'bytewise', text: HELLO, onlyStreamed: true },
  { model: 'no-usage', text: HELLO, reportsNoUsage: true },
  { model: 'finish-length', text: HELLO, finish: 'length' },
  { model: 'no-content' },
  { model: 'reasoning', text: HELLO, reasoning: REASONING },
  { model: 'tool', ...calls(PARIS) },
  { model: 'two-tools', ...calls(PARIS, CET) },
  { model: 'text-and-tool', text: HELLO, ...calls(PARIS) },
  { model: 'reasoning-and-tool', reasoning: REASONING, ...calls(PARIS) },
];

/** The upstream is silent before and during these answers, long enough for several heartbeats. */
export const SLOW_ANSWERS: readonly Answer[] = [
  { model: 'slow-first-byte-1000', text: HELLO },
  { model: 'slow-everything', text: HELLO, reasoning: REASONING, ...calls(PARIS) },
];

/** (10 − 4) × 1 + 4 × 0.1 + 5 × 2, by the prices of the test catalog. */
const DEBITED = '16.4';

const AMOUNT = expect.stringMatching(/^\d+(\.\d+)?$/);
const COUNT = expect.any(Number);

/** What a library must make of an answer. */
export function readingOf(answer: Answer, library: Library, view: View = {}): Reading {
  const reasoning = answer.reasoning ?? '';
  return {
    text: answer.text ?? '',
    reasoning: reasoning === '' ? '' : shown(reasoning, view.reasoning ?? 'all'),
    calls: answer.calls ?? [],
    finish: library.finish[answer.finish ?? 'stop'],
    ...(answer.reportsNoUsage
      ? { usage: { input: COUNT, cached: 0, output: COUNT }, debited: AMOUNT }
      : { usage: { input: 10, cached: 4, output: 5 }, debited: DEBITED }),
    ...(view.usage !== undefined && !answer.reportsNoUsage && { usage: view.usage }),
    ...(view.debited === null && { debited: null }),
    ...(answer.finish === 'length' && view.cut),
  };
}

/** Thinking as a library hands it on, or gives it back. The upstream sends it in two pieces. */
export function shown(reasoning: string, what: 'all' | 'last piece' | 'none'): string {
  if (what === 'none') return '';
  return what === 'all' ? reasoning : 'about it.';
}

export const CITY_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
};

export const ZONE_SCHEMA = {
  type: 'object' as const,
  properties: { zone: { type: 'string' as const } },
};

/** One pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==';

/** The tools that are offered with every request of a `Way`. */
export const TOOLS = [
  { name: 'get_weather', description: 'The weather of a city.', schema: CITY_SCHEMA },
  { name: 'get_time', description: 'The time of a zone.', schema: ZONE_SCHEMA },
] as const;

/** The classes of errors by status, in all libraries that are made as OpenAI's is. */
export const SDK_ERRORS = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  402: 'APIError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  413: 'APIError',
  429: 'RateLimitError',
  503: 'InternalServerError',
} as const;

/** What OpenAI's library says of a failure. */
export function openaiFailure(error: unknown): Failure {
  return {
    name: error instanceof Error ? error.constructor.name : '',
    status: Number(field(error, 'status')) || null,
    code: textField(error, 'code'),
    message: String(field(error, 'message')),
    // The name of the field in major 4 and in the later ones.
    requestId: textField(error, 'requestID') ?? textField(error, 'request_id'),
  };
}

/** A field of something that the library types otherwise, or not at all. */
export function field(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    found = typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined;
  }
  return found;
}

/** The same as text; `null` where there is none. */
export function textField(value: unknown, ...path: readonly string[]): string | null {
  const found = field(value, ...path);
  return typeof found === 'string' ? found : null;
}

/** What a number is that a library may leave out. */
export function usageOf(input: unknown, cached: unknown, output: unknown): Usage | null {
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  return { input, cached: typeof cached === 'number' ? cached : 0, output };
}
