// Responses streams: recordings of what servers send, however the bytes are split, and anything
// else an upstream may do.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Fold } from '../../../../src/core/fold.ts';
import type { GenerationEvent } from '../../../../src/core/generation.ts';
import { LEFT_OUT, OPEN_BLOCKS_MAX, TOOL_CALLS_MAX } from '../../../../src/wire/upstream/limits.ts';
import { recordings } from '../../../support/golden.ts';
import { expectWellFormed, recordedStreams, testRecordedStreams } from '../recorded.ts';
import type { Decoded } from '../support.ts';
import { decodeReads, frame, readResponse, USAGE } from './support.ts';

const streams = recordedStreams('upstream-responses', () => (reads) => decodeReads(reads));
const encoder = new TextEncoder();
const decode = (text: string): Decoded => decodeReads([encoder.encode(text)]);
const ended = frame('response.completed', { response: { usage: USAGE } });

testRecordedStreams(streams, { leavesOut: false });

describe('a stream and a whole answer of one name give the same answer', () => {
  const bodies = new Map(recordings('upstream-responses', 'json').map((one) => [one.title, one]));
  for (const { title, bytes } of streams) {
    const body = bodies.get(title);
    if (body === undefined) continue;
    test(title, () => {
      const { events, failure } = decodeReads([bytes]);
      const fold = new Fold();
      for (const event of events) fold.push(event);
      const whole = readResponse(new TextDecoder().decode(body.bytes));
      expect(failure ?? fold.answer()).toEqual(whole);
    });
  }
});

describe('any Responses upstream stream', () => {
  const EVENTS = [
    ...['created', 'output_item.added', 'output_item.done', 'output_text.delta'],
    ...['reasoning_summary_text.delta', 'function_call_arguments.delta', 'completed', 'failed'],
  ].map((name) => `response.${name}`);
  const small = fc.oneof(
    fc.constantFrom<unknown>('message', 'reasoning', 'function_call', 'a', '', null, 0, 1, -1),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const names = fc.constantFrom(
    ...['type', 'id', 'call_id', 'name', 'arguments', 'content', 'summary', 'text', 'delta'],
    ...['encrypted_content', 'status', 'usage', 'error', 'output', 'phase'],
  );
  const object = fc.dictionary(names, fc.oneof(small, fc.array(fc.dictionary(names, small))), {
    maxKeys: 5,
  });
  const event = fc
    .record({
      type: fc.constantFrom(...EVENTS),
      output_index: fc.oneof(fc.nat(3), small),
      item: fc.oneof(object, small),
      response: fc.oneof(object, small),
      delta: fc.oneof(fc.constant('x'), small),
    })
    .map(({ type, ...rest }) => frame(type, rest));

  test('never throws, and gives events of the contract', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (frames) => {
        expectWellFormed(decode(frames.join('') + ended));
      }),
      { numRuns: 500 },
    );
  });

  test('nothing behind the final event counts', () => {
    const { events, failure } = decode(`${ended}data: {"error":{"message":"x"}}\n\nx`);
    expect(failure).toBeUndefined();
    expect(events.map(({ kind }) => kind)).toEqual(['usage', 'finish']);
  });
});

describe('limits', () => {
  const calls = (count: number): string =>
    Array.from({ length: count }, (_, output_index) =>
      frame('response.output_item.done', {
        output_index,
        item: { type: 'function_call', call_id: `c${output_index}`, name: 'f', arguments: '{}' },
      }),
    ).join('');

  test('calls beyond the limit are left out, and the answer ends with length', () => {
    const { events, failure } = decode(calls(TOOL_CALLS_MAX + 2) + ended);
    const starts = events.filter(({ kind }) => kind === 'tool-start');
    expect([failure, starts.length]).toEqual([undefined, TOOL_CALLS_MAX]);
    expect(events.at(-1)).toEqual({ kind: 'finish', reason: 'length' });
    const leftOut = (one: GenerationEvent) => one.kind === 'tool-delta' && one.index === LEFT_OUT;
    expect(events.filter(leftOut).length).toBeGreaterThanOrEqual(2);
  });

  test('open items are bounded', () => {
    const opened = Array.from({ length: OPEN_BLOCKS_MAX + 1 }, (_, output_index) =>
      frame('response.output_item.added', { output_index, item: { type: 'message' } }),
    );
    expect(decode(opened.join('')).failure?.class).toBe('malformed');
  });

  test('thinking too long to be kept is dropped, and the answer is not', () => {
    const item = { type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(2_097_153) };
    const text = frame('response.output_item.done', { output_index: 0, item });
    const { events, failure } = decode(text + ended);
    expect([failure, events.at(-1)]).toEqual([undefined, { kind: 'finish', reason: 'stop' }]);
  });
});

test('what a server does not get back is not kept', () => {
  const [recording] = streams.filter(({ title }) => title.includes('reasoning and two calls'));
  const bytes = recording?.bytes ?? new Uint8Array();
  const kept = (fields: object): unknown => {
    const last = decodeReads([bytes], undefined, fields).events.at(-1);
    return last?.kind === 'finish' && last.thinking?.map(({ kind }) => kind);
  };
  expect(kept({})).toEqual(['native', 'text', 'native']);
  expect(kept({ phases: 'omit' })).toEqual(['native', 'text', 'native']);
  expect(kept({ reasoningHistory: 'none' })).toEqual(['text']);
  expect(kept({ reasoningHistory: 'none', phases: 'omit' })).toBeUndefined();
});
