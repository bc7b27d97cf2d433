// Computes the lookup key of kept thinking: a keyed digest of the tool call that it led to. Called
// by the reasoning store; the pipeline hashes the turns before. Thinking of one conversation must
// never appear in another one.

import type { JsonValue, ToolCall, Turn } from '../core/generation.ts';
import { weighJson } from '../core/json-weight.ts';

/** The input of the model before a turn. */
type Conversation = { readonly system: string; readonly turns: readonly Turn[] };

/** A digest of everything before the turn at that index. */
type Preceding = (at: number) => string;

/** How many characters of an id must look random for it to count as unique. */
const RANDOM_CHARACTERS_MIN = 16;

/** No upstream's call has a longer id here; the search for a name in it may take quadratic time. */
const ID_LENGTH_MAX = 256;

/** Deeper inputs would take the parser and the writer seconds; no real tool has them. */
const INPUT_DEPTH_MAX = 128;

/** Calls of one turn that are looked up: clients may omit one, but hardly more. */
export const CALLS_PER_TURN_MAX = 8;

/** Calls of one request that are looked up. */
const CALLS_MAX = 1_024;

/** How many calls of these turns are looked up at most. */
export function lookupsOf(turns: readonly { readonly toolCalls: readonly ToolCall[] }[]): number {
  let calls = 0;
  for (const { toolCalls } of turns) calls += Math.min(toolCalls.length, CALLS_PER_TURN_MAX);
  return Math.min(calls, CALLS_MAX);
}

/**
 * What the lookups of one request may still cost. Each call of a history needs a query of the
 * database, and its input may have to be sorted: a request of 2 MB would block all others for
 * seconds. So a history beyond these bounds has its newest calls looked up.
 */
export class LookupBudget {
  /** Queries. */
  #calls = CALLS_MAX;
  /** Members, elements and objects of inputs: 20 ms of sorting. */
  #parts = 10_000;

  takeCall(): boolean {
    this.#calls -= 1;
    return this.#calls >= 0;
  }

  takeInput(text: string): boolean {
    const left = this.#parts;
    const most = { depth: INPUT_DEPTH_MAX, members: left, values: left, words: left };
    const { excess, members, values } = weighJson(Buffer.from(text), most);
    const parts = members + values;
    if (excess !== undefined || parts > left) return false;
    this.#parts -= parts;
    return true;
  }
}

/**
 * The digest of a call. A random id suffices alone, so a client may shorten its history and
 * reformat or trim the input. Other ids (`call_0`, `functions.read:0`) repeat in every conversation
 * of an account, which may have many end users: for them the input and all earlier messages count
 * too, exactly.
 */
export function digestCall(
  key: Uint8Array,
  accountId: string,
  call: ToolCall,
  preceding: () => string,
  budget: LookupBudget,
): Uint8Array {
  const parts = [accountId, call.id, call.name];
  if (!isUnique(call)) parts.push(canonicalInput(call.arguments, budget), preceding());
  return new Bun.CryptoHasher('sha256', key).update(JSON.stringify(parts)).digest();
}

/**
 * Digests of the beginnings of a conversation, computed together on first use. They exclude
 * thinking, because clients may or may not return it.
 */
export function precedingDigests({ system, turns }: Conversation): Preceding {
  let digests: readonly (string | undefined)[] | undefined;
  /** Only of the beginnings that lookups need, before turns with calls and at the end. */
  const digestAll = (): readonly (string | undefined)[] => {
    const hash = new Bun.CryptoHasher('sha256');
    let text = JSON.stringify(system);
    const all: (string | undefined)[] = [];
    for (const turn of turns) {
      const isLookedUp = turn.role === 'assistant' && turn.toolCalls.length > 0;
      if (isLookedUp) {
        hash.update(text);
        text = '';
      }
      all.push(isLookedUp ? hash.copy().digest('hex') : undefined);
      text += JSON.stringify(withoutThinking(turn));
    }
    return [...all, hash.update(text).digest('hex')];
  };
  return (at) => {
    digests ??= digestAll();
    const digest = digests[at];
    if (digest !== undefined) return digest;
    const before = turns.slice(0, at);
    return precedingDigests({ system, turns: before })(before.length);
  };
}

function withoutThinking(turn: Turn): object {
  if (turn.role !== 'assistant') return turn;
  const { role, text, toolCalls } = turn;
  return { role, text, toolCalls };
}

/** Whether an id alone identifies its call. Tool names and ordinary words do not. */
function isUnique({ id, name }: ToolCall): boolean {
  if (id.length > ID_LENGTH_MAX) return false;
  const words = id.replaceAll(name, ' ').match(/[A-Za-z\d]+/g) ?? [];
  return words.filter((word) => /\d/.test(word)).join('').length >= RANDOM_CHARACTERS_MIN;
}

/**
 * The same text for equivalent inputs: clients reformat them, with other white space and key order,
 * and may send an empty or doubly encoded input as an object. An input beyond the budget is taken as
 * it is.
 */
function canonicalInput(text: string, budget: LookupBudget): string {
  const value = parse(text.trim() === '' ? '{}' : text, budget);
  const once = typeof value === 'string' ? parse(value, budget) : value;
  return once === undefined ? text : JSON.stringify(sortKeys(once ?? {}));
}

function parse(text: string, budget: LookupBudget): JsonValue | undefined {
  try {
    return budget.takeInput(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function sortKeys(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(sortKeys);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sortKeys(member)]));
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
