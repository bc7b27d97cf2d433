// Recordings with something wrong. A mutation is data (what to do, and where as a fraction of the
// length), so that failures shrink to few mutations of a short recording.

import fc from 'fast-check';
import { scalarText } from './json-text.ts';
import { toBytes } from './recordings.ts';

const FRAGMENTS = [
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  'data: ',
  'data:',
  'data: [DONE]\n\n',
  'data: : keepalive\n\n',
  'event: error\n',
  'event: ping\n',
  'error: {"error":"x"}\n',
  'id: 1\n',
  ': x\n',
  '\uFEFF',
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '<think>',
  '</think>',
] as const;

/** Bytes that are no UTF-8: a lone continuation, a lone start, a surrogate, 0xff. */
const BROKEN_BYTES = [[0x80], [0xc3], [0xf0, 0x9f], [0xed, 0xa0, 0x80], [0xff], [0]] as const;

const fragment = fc.oneof(
  fc.constantFrom(...FRAGMENTS).map(toBytes),
  fc.constantFrom(...BROKEN_BYTES).map((bytes) => Uint8Array.from(bytes)),
  fc.uint8Array({ maxLength: 4 }),
);

/** A place as a fraction of the length. */
const place = fc.nat({ max: 65_535 }).map((at) => at / 65_536);

/** Keys and words of the formats, which mean something where they stand by chance. */
const WORDS = [
  ...['messages', 'role', 'content', 'text', 'type', 'id', 'input', 'name', 'arguments', 'system'],
  ...['tool_calls', 'tool_call_id', 'tool_use', 'tool_result', 'tool_use_id', 'thinking', 'image'],
  ...['user', 'assistant', 'tool', 'image_url', 'stop', 'length', 'end_turn', 'error', 'usage'],
  ...['delta', 'message', 'choices', 'index', 'finish_reason', 'stop_reason', 'reasoning'],
].map((word) => JSON.stringify(word));

type Mutation =
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'delete' | 'repeat'; readonly at: number; readonly length: number }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'token'; readonly at: number; readonly text: string }
  | { readonly kind: 'record'; readonly at: number; readonly to: number; readonly move: Move };

/** What to do with a whole record of a stream. */
type Move = 'drop' | 'double' | 'swap';

const values = fc.oneof(scalarText, fc.constantFrom(...WORDS));

function valueMutation(text: fc.Arbitrary<string>): fc.Arbitrary<Mutation> {
  return fc.record({ kind: fc.constant('token' as const), at: place, text });
}

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: place }),
  fc.record({
    kind: fc.constantFrom('delete' as const, 'repeat' as const),
    at: place,
    length: fc.nat({ max: 64 }),
  }),
  fc.record({ kind: fc.constant('insert' as const), at: place, bytes: fragment }),
  { weight: 4, arbitrary: valueMutation(values) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      at: place,
      to: place,
      move: fc.constantFrom('drop' as const, 'double' as const, 'swap' as const),
    }),
  },
);

/** One of the seeds with up to six mutations. */
export function mutated(seeds: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(seeds, fc.array(mutation, { maxLength: 6 }))
    .map(([seed, mutations]) => mutations.reduce(mutate, seed));
}

/** One of the seeds with other values in the place of up to four: mostly it stays what it was. */
export function valuesMutated(
  seeds: fc.Arbitrary<Uint8Array>,
  replacements: fc.Arbitrary<string> = values,
): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(seeds, fc.array(valueMutation(replacements), { maxLength: 4 }))
    .map(([seed, mutations]) => mutations.reduce(mutate, seed));
}

function mutate(bytes: Uint8Array, mutation: Mutation): Uint8Array {
  const at = Math.floor(mutation.at * (bytes.length + 1));
  switch (mutation.kind) {
    case 'cut':
      return bytes.slice(0, at);
    case 'delete':
      return joined(bytes.subarray(0, at), bytes.subarray(at + mutation.length));
    case 'repeat':
      return joined(bytes.subarray(0, at + mutation.length), bytes.subarray(at));
    case 'insert':
      return joined(bytes.subarray(0, at), mutation.bytes, bytes.subarray(at));
    case 'token':
      return replaceToken(bytes, mutation.at, mutation.text);
    case 'record':
      return moveRecord(bytes, mutation);
  }
}

const TOKENS = /"(?:[^"\\\n]|\\.)*"|(?<!\w)-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/g;

/** Puts another JSON value in the place of one scalar; keys are among them. */
function replaceToken(bytes: Uint8Array, place: number, replacement: string): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const tokens = [...text.matchAll(TOKENS)];
  const token = tokens[Math.floor(place * tokens.length)];
  if (token === undefined) return bytes;
  const end = token.index + token[0].length;
  return joined(bytes.subarray(0, token.index), toBytes(replacement), bytes.subarray(end));
}

function moveRecord(bytes: Uint8Array, { at, to, move }: Mutation & { kind: 'record' }) {
  const records = Buffer.from(bytes).toString('latin1').split('\n\n');
  const [from, other] = [at, to].map((place) => Math.floor(place * records.length));
  const record = records[from ?? 0] ?? '';
  switch (move) {
    case 'drop':
      records.splice(from ?? 0, 1);
      break;
    case 'double':
      records.splice(other ?? 0, 0, record);
      break;
    case 'swap':
      records[from ?? 0] = records[other ?? 0] ?? '';
      records[other ?? 0] = record;
      break;
  }
  return new Uint8Array(Buffer.from(records.join('\n\n'), 'latin1'));
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
