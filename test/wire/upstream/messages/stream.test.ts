// Messages streams: recordings of what servers send, however the bytes are split, and anything else
// an upstream may do.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FailureClass } from '../../../../src/core/failure.ts';
import type { FinishReason } from '../../../../src/core/generation.ts';
import { LEFT_OUT } from '../../../../src/wire/upstream/limits.ts';
import { expectWellFormed, recordedStreams, testRecordedStreams } from '../recorded.ts';
import { type Decoded, isLeftOut } from '../support.ts';
import { decodeReads } from './support.ts';

const encoder = new TextEncoder();

const frame = (type: string, members: object = {}): string => {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
};
const opened = (index: unknown, content_block: unknown): string => {
  return frame('content_block_start', { index, content_block });
};
const delta = (index: unknown, of: unknown): string => {
  return frame('content_block_delta', { index, delta: of });
};
const stopped = (index: unknown): string => frame('content_block_stop', { index });
const ended = (stop_reason: unknown): string => {
  return frame('message_delta', { delta: { stop_reason } }) + frame('message_stop');
};
const said = (text: string): string => delta(0, { type: 'text_delta', text });
const decode = (text: string): Decoded => decodeReads([encoder.encode(text)]);

testRecordedStreams(
  recordedStreams('upstream-messages', () => decodeReads),
  { leavesOut: false },
);

describe('what ends an answer', () => {
  const reasons: [word: unknown, reason: FinishReason][] = [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['STOP', 'stop'],
    ['tool_use', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['length', 'length'],
    ['refusal', 'content_filter'],
    ['insufficient_system_resource', 'insufficient_system_resource'],
  ];

  test.each(reasons)('the stop reason %p', (word, reason) => {
    expect(decode(said('A') + ended(word)).events.at(-1)).toEqual({ kind: 'finish', reason });
  });

  test('an unknown stop reason is a stop, and named to operators', () => {
    const word = 'something_new'.repeat(9);
    expect(decode(said('A') + ended(word)).events.at(-1)).toEqual({
      kind: 'finish',
      reason: 'stop',
      unknown: { what: 'finish_reason', word: word.slice(0, 40) },
    });
  });

  test.each([null, '', 7, undefined])('the stop reason %p is none', (word) => {
    expect(decode(said('A') + ended(word)).failure?.class).toBe('cut');
  });

  const classes: [type: string, failure: FailureClass][] = [
    ['invalid_request_error', 'bad_request'],
    ['request_too_large', 'too_large'],
    ['authentication_error', 'credential'],
    ['billing_error', 'credential'],
    ['permission_error', 'credential'],
    ['not_found_error', 'server_error'],
    ['rate_limit_error', 'rate_limited'],
    ['overloaded_error', 'overloaded'],
    ['timeout_error', 'timeout'],
    ['api_error', 'server_error'],
    ['some_new_error', 'server_error'],
  ];

  test.each(classes)('an error event of the type %s', (type, failure) => {
    const detail = 'the upstream reported an error in place of an answer';
    const error = frame('error', { error: { type, message: 'SECRET' } });
    const failed = { class: failure, detail, said: { code: type, message: 'SECRET' } };
    expect(decode(error)).toEqual({ events: [], failure: failed });
    expect(decode(`${said('A')}${error}${said('B')}${ended('end_turn')}`)).toEqual({
      events: [{ kind: 'text-delta', text: 'A' }],
      failure: failed,
    });
  });
});

describe('any Messages upstream stream', () => {
  test('JSON of any shape never throws', () => {
    const index = fc.oneof(fc.integer({ min: -1, max: 3 }), fc.jsonValue());
    const word = (...words: string[]) => fc.oneof(fc.constantFrom(...words), fc.jsonValue());
    const block = fc.oneof(
      fc.record(
        {
          type: word('text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use'),
          text: word('A'),
          thinking: word('Hm'),
          signature: word('s'),
          data: word('d'),
          id: word('a', 'b', ''),
          name: word('f', ''),
          input: fc.jsonValue(),
        },
        { requiredKeys: ['type'] },
      ),
      fc.jsonValue(),
    );
    const piece = fc.oneof(
      fc.record(
        {
          type: word('text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta'),
          text: word('A'),
          thinking: word('Hm'),
          signature: word('s'),
          partial_json: word('{', '}', ''),
          stop_reason: word('end_turn', 'tool_use', 'max_tokens'),
        },
        { requiredKeys: ['type'] },
      ),
      fc.jsonValue(),
    );
    const event = fc.record(
      {
        type: word(
          ...['message_start', 'content_block_start', 'content_block_delta'],
          ...['content_block_stop', 'message_delta', 'message', 'ping'],
        ),
        index,
        message: fc.jsonValue(),
        content: fc.oneof(fc.array(block, { maxLength: 3 }), fc.jsonValue()),
        content_block: block,
        delta: piece,
        usage: fc.jsonValue(),
      },
      { requiredKeys: ['type', 'index', 'content_block', 'delta'] },
    );
    fc.assert(
      fc.property(fc.array(event), fc.constantFrom('', ended('end_turn')), (events, end) => {
        const text = events.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
        const decoded = decode(text + end);
        expectWellFormed(decoded);
        expect(decoded.events.some(isLeftOut)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test('after a failure nothing is emitted, in the same read or a later one', () => {
    const bad = `${said('A')}data: no\n\n${said('B')}`;
    expect(decodeReads([encoder.encode(bad), encoder.encode(ended('end_turn'))])).toEqual({
      events: [{ kind: 'text-delta', text: 'A' }],
      failure: { class: 'malformed', detail: 'the upstream sent an event that is not JSON' },
    });
  });

  test('after the stop nothing is read, in the same read or a later one', () => {
    const over = said('A') + ended('end_turn') + said('B');
    const { events, failure } = decodeReads([encoder.encode(over), encoder.encode('data: no\n\n')]);
    expect({ events, failure }).toEqual({
      events: [
        { kind: 'text-delta', text: 'A' },
        { kind: 'finish', reason: 'stop' },
      ],
      failure: undefined,
    });
  });

  test('calls beyond 1,024 are left out, and the answer ends as at a length', () => {
    const calls = Array.from({ length: 1_030 }, (_, index) => {
      const block = { type: 'tool_use', id: `t${index}`, name: 'f', input: { index } };
      return opened(index, block) + stopped(index);
    });
    const { events, failure } = decode(calls.join('') + ended('tool_use'));
    const starts = events.filter(({ kind }) => kind === 'tool-start');
    const inputs = events.flatMap((event) => (event.kind === 'tool-delta' ? event : []));
    expect([failure, starts.length]).toEqual([undefined, 1_024]);
    expect(inputs).toContainEqual({ kind: 'tool-delta', index: 1_023, json: '{"index":1023}' });
    const leftOut = inputs.flatMap(({ index, json }) => (index === LEFT_OUT ? json : []));
    expect([leftOut.length, leftOut[0]]).toEqual([6, 'f{"index":1024}']);
    expect(events.at(-1)).toEqual({ kind: 'finish', reason: 'length' });
  });

  const BOUNDS: [what: string, bytes: () => string, detail: string][] = [
    [
      'open blocks',
      () => Array.from({ length: 1_025 }, (_, at) => opened(at, { type: 'text' })).join(''),
      'more than 1024 open blocks',
    ],
    [
      'open blocks without a start',
      () =>
        Array.from({ length: 1_025 }, (_, at) =>
          delta(at, { type: 'thinking_delta', thinking: 'a' }),
        ).join(''),
      'more than 1024 open blocks',
    ],
    [
      'inputs of open blocks',
      () =>
        Array.from({ length: 3 }, (_, at) => {
          const input = { a: 'x'.repeat(500_000) };
          return opened(at, { type: 'tool_use', id: `t${at}`, name: 'f', input });
        }).join(''),
      'more than 1048576 characters of tool inputs',
    ],
    ['a line', () => `data: ${'x'.repeat(8_388_609)}`, 'a line of more than 8388608 bytes'],
  ];

  test('a text of 8,000,000 characters in one line is read', () => {
    const text = 'x'.repeat(8_000_000);
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
    const { events } = decode(`event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n`);
    expect(events).toEqual([{ kind: 'text-delta', text }]);
  });

  test.each(BOUNDS)('%s have a bound', (_what, bytes, detail) => {
    expect(decode(bytes()).failure).toEqual({
      class: 'malformed',
      detail: `the upstream sent ${detail}`,
    });
  });

  test('stopped blocks are not kept: any number of them may come', () => {
    const blocks = Array.from({ length: 5_000 }, (_, index) => {
      return opened(index, { type: 'text', text: 'a' }) + stopped(index);
    });
    const { events, failure } = decode(blocks.join('') + ended('end_turn'));
    expect([events.length, failure]).toEqual([5_001, undefined]);
  });

  const thought = (text: string, signature: string): string => {
    const block = opened(0, { type: 'thinking', thinking: '' });
    const signed = delta(0, { type: 'signature_delta', signature });
    return `${block}${delta(0, { type: 'thinking_delta', thinking: text })}${signed}${stopped(0)}`;
  };

  test('more signed thinking than can be kept is not handed over in part', () => {
    const long = 'x'.repeat(700_000);
    const kept = decode(thought(long, 's') + thought(long, 't') + ended('end_turn')).events.at(-1);
    expect(kept).toEqual({
      kind: 'finish',
      reason: 'stop',
      thinking: [
        { kind: 'thinking', text: long, signature: 's' },
        { kind: 'thinking', text: long, signature: 't' },
      ],
    });
    const reads = [...'abcd'].map((sign) => encoder.encode(thought(long, sign)));
    const { events, failure } = decodeReads([...reads, encoder.encode(ended('end_turn'))]);
    expect(failure).toBeUndefined();
    expect(events.at(-1)).toEqual({ kind: 'finish', reason: 'stop' });
    expect(events.filter((event) => event.kind === 'reasoning-delta').length).toBe(4);
  });

  test('many empty blocks of thinking are bounded too', () => {
    const blocks = thought('', 's').repeat(40_000) + ended('end_turn');
    expect(decode(blocks)).toEqual({
      events: [{ kind: 'finish', reason: 'stop' }],
      failure: undefined,
    });
  });
});
