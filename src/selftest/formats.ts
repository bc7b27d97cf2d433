// Checks that each recorded stream reaches a client of each format, streamed and whole, with its
// content, and costs what it reported.

import { MICRO_DECIMALS, parseDecimal } from '../core/money.ts';
import {
  ask,
  type Caller,
  type Content,
  FORMATS,
  type Format,
  type Question,
  type ReceivedAnswer,
} from './answer.ts';
import { type Check, checkOf } from './check.ts';
import { RECORDINGS, type RecordedStream } from './recordings.ts';
import { FAST_MODEL } from './upstream.ts';

const MICRO = 1_000_000n;

/** Without balance, for the rejection. */
export async function checkFormats(caller: Caller, poor: Caller): Promise<readonly Check[]> {
  const wrongContent: Record<Format, string[]> = { chat: [], messages: [], responses: [] };
  const wrongBills: string[] = [];
  let answers = 0;
  let bills = 0;
  for (const recording of RECORDINGS) {
    for (const format of FORMATS) {
      for (const stream of [true, false]) {
        const asked = { format, stream, model: recording.name };
        const answer = await ask(caller, asked);
        const name = `${recording.name} as ${format}, ${stream ? 'streamed' : 'whole'}`;
        answers += 1;
        if (!isRight(answer, recording.expected)) {
          wrongContent[format].push(`${name}: ${JSON.stringify(answer)}`);
        }
        if (recording.usage === undefined) continue;
        bills += 1;
        const bill = parseDecimal(answer.debited ?? '', MICRO_DECIMALS);
        if (bill !== chargeOf(recording.usage)) wrongBills.push(`${name}: ${answer.debited}`);
      }
    }
  }
  const each = `${answers / FORMATS.length} answers to ${RECORDINGS.length} recorded streams, streamed and whole`;
  return [
    checkOf('chat completions', wrongContent.chat, each),
    checkOf('Messages', wrongContent.messages, each),
    checkOf('Responses', wrongContent.responses, each),
    checkOf(
      'bills',
      wrongBills,
      `${bills} bills are what the upstream reported, to the last digit`,
    ),
    await checkRefusals(caller, poor),
  ];
}

async function checkRefusals(caller: Caller, poor: Caller): Promise<Check> {
  const asked: Question = { format: 'chat', stream: false, model: FAST_MODEL };
  const unknown = { ...caller, key: `sk-${'x'.repeat(48)}` };
  const cases = [
    { name: 'an unknown key', status: 401, answer: await ask(unknown, asked) },
    {
      name: 'an unknown model',
      status: 404,
      answer: await ask(caller, { ...asked, model: 'none' }),
    },
    { name: 'an empty balance', status: 402, answer: await ask(poor, asked) },
  ];
  const wrong = cases
    .filter(({ status, answer }) => answer.status !== status)
    .map(({ name, answer }) => `${name} has the status ${answer.status}`);
  return checkOf('rejections', wrong, cases.map(({ name }) => name).join(', '));
}

/** Arguments are compared as JSON: a whole Messages answer has them parsed. */
function isRight(answer: ReceivedAnswer, expected: Content): boolean {
  const shape = ({ text, reasoning, calls }: Content): string =>
    JSON.stringify({
      text,
      reasoning,
      calls: calls.map(({ name, json }) => [name, JSON.stringify(JSON.parse(json || '{}'))]),
    });
  return answer.status === 200 && answer.complete && shape(answer) === shape(expected);
}

/** At the prices of the scratch catalog, in 10⁻⁶ service token. */
function chargeOf(usage: NonNullable<RecordedStream['usage']>): bigint {
  const { inputTokens, cachedInputTokens, outputTokens } = usage;
  const fresh = BigInt(inputTokens - cachedInputTokens);
  return (
    fresh * MICRO + BigInt(cachedInputTokens) * (MICRO / 10n) + BigInt(outputTokens) * 2n * MICRO
  );
}
