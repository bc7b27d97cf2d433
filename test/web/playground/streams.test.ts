// The playground's reader against every recorded answer of the gateway: however the bytes are cut, it reads
// the same, and both formats have the same answer.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Answer, NO_ANSWER } from '../../../src/web/customer/playground/answer.ts';
import { readAnswer, readBody } from '../../../src/web/customer/playground/answer-reader.ts';
import { recordings } from '../../support/golden.ts';

type Format = 'chat' | 'Messages';

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

async function read({ isStream, body }: Recorded, cuts: readonly number[] = []): Promise<Answer> {
  const bytes = new TextEncoder().encode(body);
  const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b);
  const pieces = new ReadableStream({
    start(controller) {
      for (const [index, end] of ends.entries()) {
        controller.enqueue(bytes.slice(ends[index - 1] ?? 0, end));
      }
      controller.close();
    },
  });
  const type = isStream ? 'text/event-stream; charset=utf-8' : 'application/json';
  const response = new Response(pieces, { headers: { 'content-type': type } });
  let answer = NO_ANSWER;
  for await (const data of readBody(response)) answer = readAnswer(answer, data);
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

const all = cases.flatMap(({ chat, messages }) => [chat ?? [], messages ?? []].flat());
const streamed = all.filter(({ isStream }) => isStream);

test('there are recordings of everything', () => {
  expect(streamed.length).toBeGreaterThan(250);
  expect(all.length - streamed.length).toBeGreaterThan(50);
});

test('any cut of the bytes of any stream reads the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...streamed),
      fc.array(fc.nat(), { maxLength: 40 }),
      async (recorded, cuts) => {
        expect(await read(recorded, cuts)).toEqual(await read(recorded));
      },
    ),
    { numRuns: 500 },
  );
});

test('one byte after the other reads the same', async () => {
  const whole = streamed.find(({ body }) => body.includes('tool_use'));
  if (whole === undefined) throw new Error('no stream with a call');
  const cuts = Array.from({ length: whole.body.length }, (_, index) => index);
  expect(await read(whole, cuts)).toEqual(await read(whole));
});

/** An answer without usage, and a reason that the Messages format has no word for. */
const ONE_FORMAT_ALONE = /chat\.completion\.billing|insufficient_system_resource/;

describe('an answer', () => {
  const shared = cases.flatMap(({ title, chat, messages, isShared }) =>
    isShared && chat !== undefined && messages !== undefined && !ONE_FORMAT_ALONE.test(chat.body)
      ? [[title, chat, messages] as const]
      : [],
  );

  test.each(shared)('%s: reads the same in both formats', async (_title, chat, messages) => {
    const summary = async (recorded: Recorded) => {
      const { text, calls, usage, bill, problem } = await read(recorded);
      return {
        text: text.trim(),
        calls: calls.map(({ name }) => name),
        usage,
        tokens: bill?.svc_tokens_debited,
        code: problem?.code,
      };
    };
    expect(await summary(messages)).toEqual(await summary(chat));
  });
});

test('a stream that was read leaves nothing of an answer out', async () => {
  const called = cases.find(({ title }) => title === 'one tool streamed');
  if (called?.chat === undefined || called.messages === undefined) throw new Error('no recording');
  const expected: Answer = {
    ...{ reasoning: '', signature: '', text: '', finish: 'tool_calls', problem: undefined },
    calls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' }],
    usage: { input: 10, cached: 0, output: 5 },
    bill: {
      ...{ svc_tokens_debited: '20', svc_cost_usd: '0.00002' },
      ...{ svc_fallback_used: false, svc_estimated: false },
    },
  };
  expect(await read(called.chat)).toEqual(expected);
  expect(await read(called.messages)).toEqual({ ...expected, finish: 'tool_use' });
});
