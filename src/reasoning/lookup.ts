// Computes the lookup key of kept thinking: a keyed digest of the tool call that it led to. Called
// by the reasoning store; the pipeline hashes the turns before. Thinking of one conversation must
// never appear in another one.

import type { JsonValue, ToolCall, Turn } from '../core/generation.ts';

/** The input of the model before a turn. */
type Conversation = { readonly system: string; readonly turns: readonly Turn[] };

/** A digest of everything before the turn at that index. */
type Preceding = (at: number) => string;

/** How many characters of an id must look random for it to count as unique. */
const RANDOM_CHARACTERS_MIN = 16;

/** Deeper inputs would take the parser and the writer seconds; no real tool has them. */
const INPUT_DEPTH_MAX = 128;

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
): Uint8Array {
  const parts = [accountId, call.id, call.name];
  if (!isUnique(call)) parts.push(canonicalInput(call.arguments), preceding());
  return new Bun.CryptoHasher('sha256', key).update(JSON.stringify(parts)).digest();
}

/**
 * Digests of all beginnings of a conversation, computed together on first use. They exclude
 * thinking, because clients may or may not return it.
 */
export function precedingDigests({ system, turns }: Conversation): Preceding {
  let digests: readonly string[] | undefined;
  const digestAll = (): readonly string[] => {
    const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify(system));
    const all = [hash.copy().digest('hex')];
    for (const turn of turns) {
      hash.update(JSON.stringify(withoutThinking(turn)));
      all.push(hash.copy().digest('hex'));
    }
    return all;
  };
  return (at) => {
    digests ??= digestAll();
    return digests[at] ?? '';
  };
}

function withoutThinking(turn: Turn): object {
  if (turn.role !== 'assistant') return turn;
  const { role, text, toolCalls } = turn;
  return { role, text, toolCalls };
}

/** Whether an id alone identifies its call. Tool names and ordinary words do not. */
function isUnique({ id, name }: ToolCall): boolean {
  const words = id.replaceAll(name, ' ').match(/[A-Za-z\d]+/g) ?? [];
  return words.filter((word) => /\d/.test(word)).join('').length >= RANDOM_CHARACTERS_MIN;
}

/**
 * The same text for equivalent inputs: clients reformat them, with other white space and key order,
 * and may send an empty or doubly encoded input as an object.
 */
function canonicalInput(text: string): string {
  const value = parse(text.trim() === '' ? '{}' : text);
  const once = typeof value === 'string' ? parse(value) : value;
  return once === undefined ? text : JSON.stringify(sortKeys(once ?? {}));
}

function parse(text: string): JsonValue | undefined {
  try {
    return nestsTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function nestsTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length && depth <= INPUT_DEPTH_MAX; at += 1) {
    const character = text[at];
    if (character === '"') inString = !inString;
    else if (inString) at += character === '\\' ? 1 : 0;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
  }
  return depth > INPUT_DEPTH_MAX;
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
