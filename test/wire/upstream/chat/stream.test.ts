import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Fold } from '../../../../src/core/fold.ts';
import { DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import { textOf } from '../../../../src/upstream/content.ts';
import { createChatStream } from '../../../../src/wire/upstream/chat/stream.ts';
import { LEFT_OUT } from '../../../../src/wire/upstream/limits.ts';
import { bytewise, expectWellFormed, recordedStreams, testRecordedStreams } from '../recorded.ts';
import { decodeReads, isLeftOut, profileOf } from '../support.ts';

const streams = recordedStreams('upstream', (bytes) => {
  const profile = profileOf(bytes);
  return (reads) => decodeReads(reads, undefined, profile);
});
const encoder = new TextEncoder();

testRecordedStreams(streams, { leavesOut: true });

describe('a finish reason that means the end', () => {
  const THINKING = { reasoning_content: 'Hm' };
  const TEXT = { content: 'Hi' };
  const CALL = { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } };
  const BARE = { index: 0, id: 'a', function: { name: 'f' } };

  test.each([
    ['text, then stop', [chunk(TEXT), chunk({}, 'stop')], true],
    ['stop beside text', [chunk(TEXT, 'stop')], true],
    ['calls', [chunk({ tool_calls: [CALL] }, 'tool_calls')], true],
    ['thinking cut by the length', [chunk(THINKING, 'length')], true],
    ['an empty answer that was filtered', [chunk({}, 'content_filter')], true],
    ['stop beside thinking', [chunk(THINKING, 'stop')], false],
    ['stop in an empty first chunk', [chunk({ content: '' }, 'stop')], false],
    ['stop beside each piece of text', [chunk(TEXT, 'stop'), chunk(TEXT, 'stop')], false],
    ['text behind a stop', [chunk(TEXT, 'stop'), chunk(TEXT)], false],
    ['a stop behind the text', [chunk(THINKING, 'stop'), chunk(TEXT), chunk({}, 'stop')], true],
    ['an empty piece', [chunk(THINKING, 'stop'), chunk(TEXT), chunk({ content: '' })], false],
    ['a call without arguments', [chunk({ tool_calls: [BARE] }), chunk({}, 'stop')], true],
    ['usage behind a stop', [chunk(TEXT, 'stop'), 'data: {"choices":[],"usage":{}}\n\n'], true],
  ])('%s', (_name, chunks, isEnd) => {
    const decoder = createChatStream(() => {}, DEFAULT_PROFILE.chat);
    for (const each of chunks) expect(decoder.feed(encoder.encode(each))).toBeUndefined();
    expect(decoder.isFinishing()).toBe(isEnd);
    expect(decoder.end()).toBeUndefined();
  });
});

test('case 74: no replacement character out of split characters', () => {
  const text = 'é漢😀\u2028';
  const bytes = encoder.encode(chunk({ content: text }) + chunk({}, 'stop'));
  expect(decodeReads(bytewise(bytes)).events).toEqual([
    { kind: 'text-delta', text },
    { kind: 'finish', reason: 'stop' },
  ]);
});

/** Behind the first finish reason, in bytes; before it nothing may look like a whole answer. */
function finishedAt(bytes: Uint8Array): number {
  const text = new TextDecoder('latin1').decode(bytes);
  const match = /"finish_reason": ?"[^"]+"/.exec(text);
  return match === null ? text.length : match.index + match[0].length;
}

describe('a stream that is cut', () => {
  for (const { title, bytes, decode, whole } of streams) {
    if (whole.failure !== undefined) continue;
    test(`case 84: at every byte: ${title}`, () => {
      const finished = finishedAt(bytes);
      for (let at = 0; at < bytes.length; at += 1) {
        const { events, failure } = decode([bytes.subarray(0, at)]);
        if (at <= finished) expect(failure?.class).toBe('cut');
        // Without a failure the end adds its own events, in place of later events.
        if (failure !== undefined) expect(events).toEqual(whole.events.slice(0, events.length));
        else expect(events.at(-1)?.kind).toBe('finish');
      }
    });
  }
});

describe('any upstream stream', () => {
  test('JSON of any shape never throws', () => {
    const deltaLike = fc.record(
      {
        content: fc.jsonValue(),
        reasoning_content: fc.jsonValue(),
        refusal: fc.jsonValue(),
        function_call: fc.jsonValue(),
        tool_calls: fc.array(
          fc.record(
            {
              index: fc.oneof(fc.integer({ min: -2, max: 3 }), fc.jsonValue()),
              id: fc.oneof(fc.constantFrom('a', 'b', ''), fc.jsonValue()),
              function: fc.oneof(
                fc.record(
                  {
                    name: fc.oneof(fc.constantFrom('f', 'g', ''), fc.jsonValue()),
                    arguments: fc.oneof(fc.constantFrom('{', '}', ''), fc.jsonValue()),
                  },
                  { requiredKeys: [] },
                ),
                fc.jsonValue(),
              ),
            },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    );
    const finish = fc.oneof(fc.constantFrom(null, 'stop', 'tool_calls'), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(fc.tuple(deltaLike, finish)), (chunks) => {
        const text = chunks.map(([delta, reason]) => chunk(delta, reason)).join('');
        expectWellFormed(decodeReads([encoder.encode(text)]));
      }),
      { numRuns: 2_000 },
    );
  });

  test('after a failure nothing is emitted, in the same read or a later one', () => {
    const bad = encoder.encode(`${chunk({ content: 'a' })}data: no\n\n${chunk({ content: 'b' })}`);
    const failure = {
      class: 'malformed' as const,
      detail: 'the upstream sent an event that is not JSON',
    };
    expect(decodeReads([bad])).toEqual({ events: [{ kind: 'text-delta', text: 'a' }], failure });
  });

  test('arguments too deep to write are a failure, not an exception', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const call = `{"index":0,"id":"a","function":{"name":"f","arguments":${deep}}}`;
    const bytes = encoder.encode(`data: {"choices":[{"delta":{"tool_calls":[${call}]}}]}\n\n`);
    expect(decodeReads([bytes])).toEqual({
      events: [],
      failure: {
        class: 'malformed',
        detail: 'the upstream sent an event with too many values, or nested too deep',
      },
    });
  });

  test('arguments that grow are kept only up to their bound', () => {
    const parts = Array.from({ length: 4 }, (_, index) => {
      const text = 'x'.repeat(300_000);
      return chunk({
        tool_calls: [{ index, id: `a${index}`, function: { name: 'f', arguments: text } }],
      });
    });
    const profile = { ...DEFAULT_PROFILE.chat, argumentPieces: 'growing' } as const;
    const { events, failure } = decodeReads(
      parts.map((part) => encoder.encode(part)),
      undefined,
      profile,
    );
    expect(events.length).toBe(6);
    expect(failure).toEqual({
      class: 'malformed',
      detail: 'the upstream sent more than 1048576 characters of growing arguments',
    });
  });

  test('ids and names of all calls together are bounded, as they are kept to the end', () => {
    const calls = Array.from({ length: 70 }, (_, index) => {
      const id = `${index}${'i'.repeat(65_000)}`;
      return chunk({ tool_calls: [{ index, id, function: { name: 'f', arguments: '{}' } }] });
    });
    const { failure } = decodeReads([encoder.encode(calls.join(''))]);
    expect(failure).toEqual({
      class: 'malformed',
      detail: 'the upstream sent more than 4194304 characters of ids and names of tool calls',
    });
  });

  /** What is passed on of the arguments of one call, and what is left out of them. */
  function splitCall(pieces: readonly string[]): [json: string, leftOut: readonly string[]] {
    const sent = pieces.map((json, at) => {
      const made = at === 0 ? { name: 'f', arguments: json } : { arguments: json };
      return chunk({ tool_calls: [{ index: 0, id: at === 0 ? 'a' : '', function: made }] });
    });
    const text = [...sent, chunk({}, 'tool_calls')].join('');
    const { events, failure } = decodeReads([encoder.encode(text)]);
    expect([failure, events.at(-1)]).toEqual([undefined, { kind: 'finish', reason: 'tool_calls' }]);
    const fold = new Fold();
    for (const event of events) fold.push(event);
    const [call, ...others] = fold.answer().toolCalls;
    expect([call?.name, others]).toEqual(['f', []]);
    return [call?.arguments ?? '', events.filter(isLeftOut).map(textOf)];
  }

  test('what a model writes behind its arguments is left out, and counts', () => {
    expect(splitCall(['{"a"', ':1} and', 'so', '}', '"on"'])).toEqual([
      '{"a":1} ',
      ['and', 'so', '}', '"on"'],
    ]);
    expect(splitCall(['{}', '\n\n', 'and', ' so on'])).toEqual(['{}', ['\n\n', 'and', ' so on']]);
  });

  test('arguments that a server repeats as a whole count once', () => {
    expect(splitCall(['{"a"', ':1}', '{"a":1}'])).toEqual(['{"a":1}', []]);
    expect(splitCall(['{"a":1}{"a":1}', '{"a":1}'])).toEqual(['{"a":1}', ['{"a":1}']]);
    expect(splitCall(['{}', '{}', '{}', '{}'])).toEqual(['{}', ['{}', '{}']]);
  });

  test('left-out calls that grow count as what they add', () => {
    const profile = { ...DEFAULT_PROFILE.chat, argumentPieces: 'growing' } as const;
    const piece = (index: number, json: string): string =>
      chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: json } }] });
    const calls = Array.from({ length: 1_024 }, (_, index) => piece(index, '{}'));
    const beyond = ['{"a"', '{"a":1', '{"a":1}'].map((json) => piece(1_024, json));
    const text = [...calls, ...beyond, piece(1_025, '{}'), chunk({}, 'tool_calls')].join('');
    const { events } = decodeReads([encoder.encode(text)], undefined, profile);
    const leftOut = events.flatMap((event) =>
      event.kind === 'tool-delta' && event.index === LEFT_OUT ? event.json : [],
    );
    expect(leftOut).toEqual(['f{"a"', 'f:1', 'f}', 'f{}']);
  });

  test.each([true, false])(
    'calls beyond 1,024 are left out, and the answer ends as at a length',
    (indexed) => {
      const calls = Array.from({ length: 1_030 }, (_, at) => {
        const index = indexed ? { index: at } : {};
        const made = { name: 'f', arguments: `{"at":${at}}` };
        return chunk({ tool_calls: [{ ...index, id: `call_${at}`, function: made }] });
      });
      const usage = { prompt_tokens: 7, completion_tokens: 9_000, total_tokens: 9_007 };
      const report = `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
      const text = calls.join('') + chunk({}, 'tool_calls') + report;
      const { events, failure } = decodeReads([encoder.encode(text)]);
      const starts = events.filter(({ kind }) => kind === 'tool-start');
      const inputs = events.flatMap((event) => (event.kind === 'tool-delta' ? event : []));
      expect([failure, starts.length]).toEqual([undefined, 1_024]);
      expect(inputs[1_023]).toEqual({ kind: 'tool-delta', index: 1_023, json: '{"at":1023}' });
      // What follows is no call, but the timers of the attempt and the bill need its text.
      expect(inputs.slice(1_024)).toEqual(
        [1_024, 1_025, 1_026, 1_027, 1_028, 1_029].map((at) => {
          return { kind: 'tool-delta', index: LEFT_OUT, json: `f{"at":${at}}` };
        }),
      );
      // The report is read: it has the thinking that the answer does not show.
      expect(events.at(-2)).toMatchObject({ kind: 'usage', usage: { outputTokens: 9_000 } });
      expect(events.at(-1)).toEqual({ kind: 'finish', reason: 'length' });
    },
  );

  test('arguments of an unnamed call are kept only up to their bound', () => {
    const part = chunk({
      tool_calls: [{ index: 0, id: 'a', function: { arguments: 'x'.repeat(60_000) } }],
    });
    const { events, failure } = decodeReads(Array(20).fill(encoder.encode(part)));
    expect(events).toEqual([]);
    expect(failure).toEqual({
      class: 'malformed',
      detail: 'the upstream sent more than 1048576 characters for unnamed tool calls',
    });
  });
});

function chunk(delta: object, finish: unknown = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}
