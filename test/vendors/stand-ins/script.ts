// What the model behind every stand-in says. Words in brackets in the last user text select it:
// `[call]` calls the first tool, and again after the first result; `[calls]` calls two tools at once;
// `[mixed]` thinks, speaks, thinks and calls in one turn; `[slow]` speaks for ten seconds; `[filter]`
// is refused as unsafe; `[count]` reports counts that follow the prompt's size and its known beginning.
// No rule of a vendor is in this file.

import type { CacheCounts } from '../../support/prompt-cache.ts';
import { type Counts, Refusal, type Seen } from './server.ts';

export type Call = { readonly id: string; readonly name: string; readonly json: string };

/** One part of an answer, in the order in which the model made it. */
export type Item =
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly call: Call };

/** What a request asks the model, read from a vendor's format. */
export type Ask = {
  readonly last: string;
  /** All text of the system and the user, where a prompt names a tool or a schema. */
  readonly prompt: string;
  readonly tools: readonly string[];
  /** Whether the model may call no tool. */
  readonly forbidden: boolean;
  /** The tool that the model must call; `any` for one of its choice. */
  readonly forced: string | undefined;
  /** Whether the vendor's own switch demands JSON. */
  readonly json: boolean;
  /** The tool results since the last user text. */
  readonly results: number;
  /** The beginning of the answer, if the request has one in the vendor's form. */
  readonly prefill: string;
  /** The text of the last assistant turn, which a user turn may ask to continue. */
  readonly spoken: string;
  readonly thinks: boolean;
};

export type Turn = {
  readonly items: readonly Item[];
  readonly slow: boolean;
  readonly filtered: boolean;
};

/** The texts by which cases recognise an answer. */
export const SAYS = {
  text: 'Hello from the model.',
  json: '{"settlement":"Paris"}',
  arguments: '{"place":"Paris"}',
  beginning: 'My favourite colour is',
  continued: ' blue.',
} as const;

/** The thoughts in a text. */
export const THOUGHTS = /Let me think \d{8}/g;

let serial = 0;

/** A new id: the prefix and eight digits. */
export function fresh(prefix: string): string {
  serial += 1;
  return `${prefix}${String(serial).padStart(8, '0')}`;
}

/** The model's answer. `callId` makes the ids of calls in the vendor's form. */
export function decide(ask: Ask, callId = () => fresh('call_')): Turn {
  const tools = ask.forbidden ? [] : ask.tools;
  const thought = (): Item => ({ kind: 'thought', text: fresh('Let me think ') });
  const text = (words: string): Item => ({ kind: 'text', text: words });
  const call = (name: string): Item => {
    return { kind: 'call', call: { id: callId(), name, json: SAYS.arguments } };
  };
  const answer = (...items: readonly Item[]): Turn => ({
    items: ask.thinks ? [thought(), ...items] : items,
    slow: ask.last.includes('[slow]'),
    filtered: ask.last.includes('[filter]'),
  });
  const [first] = tools;
  const named = tools.find((tool) => ask.prompt.includes(tool));
  if (first !== undefined && ask.results === 0) {
    const forced = ask.forced === 'any' ? first : (ask.forced ?? named);
    if (forced !== undefined) return answer(call(forced));
    if (ask.last.includes('[calls]')) return answer(...tools.slice(0, 2).map(call));
  }
  if (first !== undefined && ask.results < 2) {
    const again = ask.thinks ? [thought()] : [];
    if (ask.last.includes('[mixed]')) return answer(text('First.'), ...again, call(first));
    if (ask.last.includes('[call]')) return answer(call(first));
  }
  if (ask.json || ask.prompt.includes('"settlement"')) return answer(text(SAYS.json));
  const asked = /continue/i.test(ask.last) ? ask.spoken : '';
  const isBegun = [ask.prefill, asked, ask.last].some((each) => each.includes(SAYS.beginning));
  return answer(text(isBegun ? SAYS.continued : SAYS.text));
}

/** The parts of a turn by kind. */
export function thoughtsOf({ items }: Turn): string[] {
  return items.flatMap((item) => (item.kind === 'thought' ? [item.text] : []));
}

/** The text of a turn in one piece. */
export function textOf({ items }: Turn): string {
  return items.flatMap((item) => (item.kind === 'text' ? [item.text] : [])).join('');
}

/** The calls of a turn. */
export function callsOf({ items }: Turn): Call[] {
  return items.flatMap((item) => (item.kind === 'call' ? [item.call] : []));
}

/** Cuts a text into pieces, as a stream delivers it. */
export function pieces(text: string, length = 6): readonly string[] {
  return text.match(new RegExp(`.{1,${length}}`, 'gs')) ?? [];
}

/** The words of a slow answer, 50 ms apart. */
export async function* slowWords(turn: Turn): AsyncGenerator<string> {
  for (let index = 0; turn.slow && index < 200; index += 1) {
    yield 'word ';
    await Bun.sleep(50);
  }
}

/** Throws the refusal of the site's fault, or the one that the last user text names: `[long]`. */
export function provoke(
  { fault }: Seen,
  last: string,
  faults: Readonly<Record<string, () => Refusal>>,
): void {
  for (const [word, refusal] of Object.entries(faults)) {
    if (word === fault || last.includes(`[${word}]`)) throw refusal();
  }
}

const STEADY = { prompt: 1_000, cached: 400, written: 100, output: 60 } as const;

/** Prompts by the mark of their conversation, as a cache of prefixes knows them. */
const known = new Map<string, string[]>();

/** A cache of every prefix, with a token for each four characters. */
export function readPrefix(mark: string, prompt: string): CacheCounts {
  const earlier = known.get(mark) ?? [];
  known.set(mark, [...earlier, prompt]);
  const cached = Math.floor(Math.max(0, ...earlier.map((each) => commonPrefix(each, prompt))) / 4);
  const total = Math.ceil(prompt.length / 4);
  return { prompt: total, cached, written: total - cached };
}

/**
 * The counts of an answer: the same for every request, or with `[count]` those that the vendor's
 * cache reads.
 */
export function countsOf(seen: Seen, ask: Ask, turn: Turn, read: () => CacheCounts): Counts {
  const thinking = seen.thought ? 20 : 0;
  const output = 40 + 10 * turn.items.length;
  const isCounted = ask.prompt.includes('[count]');
  seen.counts = isCounted ? { ...read(), output, thinking } : { ...STEADY, thinking };
  return seen.counts;
}

/** How many characters two texts share at their beginning. */
export function commonPrefix(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) if (one[at] !== other[at]) return at;
  return length;
}

/** A refusal in OpenAI's envelope, which most vendors share. */
export function refusalOf(
  message: string,
  { status = 400, type = 'invalid_request_error', param = null, code = null }: Envelope = {},
  headers: Readonly<Record<string, string>> = {},
): Refusal {
  return new Refusal(status, { error: { message, type, param, code } }, headers);
}

export type Envelope = {
  readonly status?: number;
  readonly type?: string;
  readonly param?: string | null;
  readonly code?: string | null;
};
