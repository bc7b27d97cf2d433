// Whole Responses answers, and the laws that a streamed answer folds to the same result and that
// the next request gives back what the server said.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isFailure } from '../../../../src/core/failure.ts';
import { Fold } from '../../../../src/core/fold.ts';
import { testRecordedBodies } from '../recorded.ts';
import { splitAt } from '../support.ts';
import {
  assistant,
  bodyOf,
  decodeReads,
  items,
  type OutputItem,
  readResponse,
  result,
  said,
  streamOf,
  user,
} from './support.ts';

testRecordedBodies('upstream-responses', (bytes) => readResponse(new TextDecoder().decode(bytes)));

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const item: fc.Arbitrary<OutputItem> = fc.oneof(
  fc
    .record({ parts: fc.array(words, { maxLength: 2 }), data: fc.constantFrom('', 'c2Vh', 'x+/=') })
    .map(({ parts, data }) => ({
      type: 'reasoning',
      id: 'rs_1',
      summary: parts.map((text) => ({ type: 'summary_text', text })),
      encrypted_content: data,
    })),
  fc
    .record({ text: words, phase: fc.constantFrom('commentary', 'final_answer') })
    .map(({ text, phase }) => ({
      type: 'message',
      id: 'msg_1',
      phase,
      content: [{ type: 'output_text', text }],
    })),
  fc
    .record({ name: fc.constantFrom('f', 'g'), json: fc.constantFrom('{}', '{"a":"é\\"😀"}') })
    .map(({ name, json }) => ({ type: 'function_call', id: 'fc_1', name, arguments: json })),
  fc.constant({ type: 'web_search_call', id: 'ws_1', action: { query: 'x' } }),
);
const output = fc
  .array(item, { maxLength: 6 })
  .map((list) =>
    list.map((one, at) => (one.type === 'function_call' ? { ...one, call_id: `c${at}` } : one)),
  );

test('law: a stream folds to the whole answer of the same items', () => {
  fc.assert(
    fc.property(output, fc.integer({ min: 1, max: 9 }), fc.nat(), (list, pieceLength, cut) => {
      const bytes = new TextEncoder().encode(streamOf(list, pieceLength));
      const { events, failure } = decodeReads(splitAt(bytes, [cut % (bytes.length + 1)]));
      const fold = new Fold();
      for (const event of events) fold.push(event);
      expect(failure).toBeUndefined();
      expect<unknown>(fold.answer()).toEqual(readResponse(bodyOf(list)));
    }),
  );
});

/** The items as they have to come back: neighbouring messages of one phase are one. */
function expectedItems(list: readonly OutputItem[]): readonly unknown[] {
  const sent: Record<string, unknown>[] = [];
  for (const one of list) {
    const last = sent.at(-1);
    if (one.type === 'reasoning') sent.push(one);
    else if (one.type === 'function_call') {
      const { call_id, name, arguments: json } = one;
      sent.push({ type: 'function_call', call_id, name, arguments: json });
    } else if (one.type === 'message') {
      const [{ text }] = one['content'] as [{ text: string }];
      const joined = last?.['role'] === 'assistant' && last['phase'] === one['phase'];
      const before = joined ? (last['content'] as [{ text: string }])[0].text : '';
      if (joined) sent.pop();
      sent.push(said(before + text, String(one['phase'])));
    }
  }
  const end = sent.findLastIndex(({ type }) => type !== 'reasoning') + 1;
  return sent.slice(0, end).filter((one) => one['encrypted_content'] !== '');
}

test('law: the next request gives the items of an answer back, in their order', () => {
  fc.assert(
    fc.property(output, (list) => {
      const answer = readResponse(bodyOf(list));
      if (isFailure(answer)) return expect.unreachable();
      const { text, reasoning, toolCalls, thinking: blocks = [] } = answer;
      const signed = { upstream: 'here', model: 'upstream-model', blocks };
      const turns = [
        user('Hi'),
        assistant(text, { reasoning, toolCalls, signed }),
        ...toolCalls.map(({ id }) => result(id, '')),
        user('x'),
      ];
      const sent = items(turns);
      expect<unknown>(sent.slice(1, -1 - toolCalls.length)).toEqual(expectedItems(list));
    }),
  );
});
