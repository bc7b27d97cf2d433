// The playground's readers of both formats against every recorded answer of the gateway: however the
// bytes are cut, they read the same, and both formats tell the same answer.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type Answer,
  NO_ANSWER,
} from '../../../../src/dashboard/web/customer/playground/answer.ts';
import { readChat } from '../../../../src/dashboard/web/customer/playground/chat-answer.ts';
import { createEventReader } from '../../../../src/dashboard/web/customer/playground/event-reader.ts';
import { readMessages } from '../../../../src/dashboard/web/customer/playground/messages-answer.ts';
import { recordings } from '../../../support/golden.ts';

const READERS = { chat: readChat, Messages: readMessages } as const;
type Format = keyof typeof READERS;

type Recorded = { readonly isStream: boolean; readonly body: string };

/** The answer that a recording holds in one format: its status, its headers, and a body below them. */
function answerIn(text: string, format: Format): Recorded | undefined {
  const section = text.split(`=== ${format} answer ===\n`)[1]?.split('\n=== ')[0];
  if (section === undefined) return undefined;
  const at = section.indexOf('\n\n');
  const [head, body] = [section.slice(0, at), section.slice(at + 2)];
  const isStream = head.includes('text/event-stream');
  // A recording ends with one line break, and a stream with two.
  return { isStream, body: isStream ? `${body.trimEnd()}\n\n` : body };
}

function read(format: Format, { isStream, body }: Recorded, cuts: readonly number[] = []): Answer {
  if (!isStream) return READERS[format](NO_ANSWER, body);
  const bytes = new TextEncoder().encode(body);
  const reader = createEventReader();
  const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b);
  let from = 0;
  let answer = NO_ANSWER;
  for (const end of ends) {
    answer = reader.feed(bytes.slice(from, end)).reduce(READERS[format], answer);
    from = end;
  }
  return answer;
}

const cases = recordings('cases', 'txt').map(({ title, bytes }) => {
  const text = new TextDecoder().decode(bytes);
  return {
    title,
    chat: answerIn(text, 'chat'),
    messages: answerIn(text, 'Messages'),
    /** Both were read from the same bytes, for the same request. */
    isShared: text.includes('=== upstream request ==='),
  };
});

const all = cases.flatMap(({ chat, messages }) => [
  ...(chat === undefined ? [] : [['chat', chat] as const]),
  ...(messages === undefined ? [] : [['Messages', messages] as const]),
]);
const streamed = all.filter(([, { isStream }]) => isStream);

test('there are recordings of everything', () => {
  expect(streamed.length).toBeGreaterThan(250);
  expect(all.length - streamed.length).toBeGreaterThan(50);
});

test('any cut of the bytes of any stream reads the same', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...streamed),
      fc.array(fc.nat(), { maxLength: 40 }),
      ([format, recorded], cuts) => {
        expect(read(format, recorded, cuts)).toEqual(read(format, recorded));
      },
    ),
    { numRuns: 500 },
  );
});

test('one byte after the other reads the same', () => {
  const whole = streamed.find(([, { body }]) => body.includes('tool_use'));
  if (whole === undefined) throw new Error('no stream with a call');
  const [format, recorded] = whole;
  const cuts = Array.from({ length: recorded.body.length }, (_, index) => index);
  expect(read(format, recorded, cuts)).toEqual(read(format, recorded));
});

/** An answer without usage, and a reason that the Messages format has no word for. */
const ONE_FORMAT_ALONE = /chat\.completion\.billing|insufficient_system_resource/;

describe('an answer', () => {
  const shared = cases.flatMap(({ title, chat, messages, isShared }) =>
    isShared && chat !== undefined && messages !== undefined && !ONE_FORMAT_ALONE.test(chat.body)
      ? [[title, chat, messages] as const]
      : [],
  );

  test.each(shared)('%s: reads the same in both formats', (_title, chat, messages) => {
    const summary = (format: Format, recorded: Recorded) => {
      const { text, calls, usage, bill, problem } = read(format, recorded);
      return {
        text: text.trim(),
        calls: calls.map(({ name }) => name),
        usage,
        tokens: bill?.tokens,
        code: problem?.code,
      };
    };
    expect(summary('Messages', messages)).toEqual(summary('chat', chat));
  });
});

test('a stream that was read leaves nothing of an answer out', () => {
  const called = cases.find(({ title }) => title === 'one tool streamed');
  if (called?.chat === undefined || called.messages === undefined) throw new Error('no recording');
  const expected: Answer = {
    reasoning: '',
    signature: '',
    text: '',
    calls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' }],
    finish: 'tool_calls',
    usage: { input: 10, cached: 0, output: 5 },
    bill: {
      ...{ tokens: '20', usd: '0.00002', balance: 'BALANCE' },
      ...{ isFallback: false, isEstimate: false },
    },
    problem: undefined,
  };
  expect(read('chat', called.chat)).toEqual(expected);
  expect(read('Messages', called.messages)).toEqual({ ...expected, finish: 'tool_use' });
});
