// What this gateway writes for Messages clients, it reads from Messages upstreams: gateways can be
// chained.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/error.ts';
import { Fold } from '../../../../src/core/fold.ts';
import type { FinishReason, GenerationEvent } from '../../../../src/core/generation.ts';
import { encodeResponse } from '../../../../src/wire/messages/response.ts';
import { encodeStream } from '../../../../src/wire/messages/stream.ts';
import { HEAD, jsonObjectText, RECEIPT, SIGNATURE } from '../../messages/fixtures.ts';
import { splitAt } from '../support.ts';
import { decodeReads, readMessagesResponse } from './support.ts';

type AnswerContent = {
  readonly reasoning: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly { readonly name: string; readonly json: string; readonly cut: number }[];
  readonly wasCut: boolean;
};

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const said: fc.Arbitrary<AnswerContent> = fc.record({
  reasoning: fc.array(words, { maxLength: 3 }),
  // White space alone is no answer beside a call, and the encoder drops it.
  text: fc
    .array(words, { maxLength: 3 })
    .map((parts) => (parts.join('').trim() === '' ? [] : parts)),
  calls: fc.array(
    fc.record({ name: fc.constantFrom('f', 'g'), json: jsonObjectText, cut: fc.nat(20) }),
    { maxLength: 3 },
  ),
  wasCut: fc.boolean(),
});

function reasonOf({ calls, wasCut }: AnswerContent): FinishReason {
  if (calls.length > 0) return 'tool_calls';
  return wasCut ? 'length' : 'stop';
}

function eventsOf(answer: AnswerContent): GenerationEvent[] {
  return [
    ...answer.reasoning.map((text) => ({ kind: 'reasoning-delta' as const, text })),
    ...answer.text.map((text) => ({ kind: 'text-delta' as const, text })),
    ...answer.calls.flatMap(({ name, json, cut }, index): GenerationEvent[] => [
      { kind: 'tool-start', index, id: `call_${index}`, name },
      { kind: 'tool-delta', index, json: json.slice(0, cut) },
      { kind: 'tool-delta', index, json: json.slice(cut) },
    ]),
    { kind: 'finish', reason: reasonOf(answer) },
  ];
}

const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = RECEIPT.usage;

const RAW = JSON.stringify({
  input_tokens: inputTokens - cachedInputTokens,
  cache_creation_input_tokens: cacheWriteTokens,
  cache_read_input_tokens: cachedInputTokens,
  output_tokens: outputTokens,
});

/** The result: the answer, the signature of ours on its thinking, and the receipt's counts. */
function expected(answer: AnswerContent) {
  const fold = new Fold();
  for (const event of eventsOf(answer)) fold.push(event);
  const { reasoning } = fold.answer();
  return {
    ...fold.answer(),
    usage: { ...RECEIPT.usage, reasoningTokens: 0 },
    rawUsage: RAW,
    ...(reasoning === ''
      ? {}
      : { thinking: [{ kind: 'thinking' as const, text: reasoning, signature: SIGNATURE }] }),
  };
}

test('a stream that is written for a client reads back as the same answer', () => {
  fc.assert(
    fc.property(said, fc.nat(), (answer, cut) => {
      const encoder = encodeStream(HEAD);
      const written = [
        encoder.start(),
        encoder.heartbeat(),
        ...eventsOf(answer).map((event) => encoder.push(event)),
        encoder.finish(RECEIPT),
      ].join('');
      const bytes = new TextEncoder().encode(written);
      const { events, failure } = decodeReads(splitAt(bytes, [cut % bytes.length]));
      const fold = new Fold();
      for (const event of events) fold.push(event);
      expect(failure).toBeUndefined();
      expect(fold.answer()).toEqual(expected(answer));
    }),
    { numRuns: 500 },
  );
});

test('so does a whole answer', () => {
  fc.assert(
    fc.property(said, (answer) => {
      const fold = new Fold();
      for (const event of eventsOf(answer)) fold.push(event);
      const body = encodeResponse(HEAD, fold.answer(), RECEIPT);
      const read = readMessagesResponse(body);
      const wanted = expected(answer);
      // An input without members has one spelling when it is read.
      const toolCalls = wanted.toolCalls.map((call) =>
        /^\{\s*\}$/.test(call.arguments) ? { ...call, arguments: '{}' } : call,
      );
      expect(read).toEqual({ ...wanted, toolCalls });
    }),
    { numRuns: 500 },
  );
});

test('a failure that is written for a client reads back as one', () => {
  const encoder = encodeStream(HEAD);
  const started = encoder.start() + encoder.push({ kind: 'text-delta', text: 'A' });
  const failed = started + encoder.fail(new GatewayError('provider_unavailable'), RECEIPT);
  const classes = [started, failed].map((text) => {
    const { events, failure } = decodeReads([new TextEncoder().encode(text)]);
    expect(events).toEqual([{ kind: 'text-delta', text: 'A' }]);
    return failure?.class;
  });
  expect(classes).toEqual(['cut', 'overloaded']);
});
