import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isFailure } from '../../../../src/core/failure.ts';
import { Fold } from '../../../../src/core/fold.ts';
import type { Answer } from '../../../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import { readChatResponse } from '../../../../src/wire/upstream/chat/response.ts';
import { ANSWER_BYTES_MAX } from '../../../../src/wire/upstream/limits.ts';
import { testRecordedBodies } from '../recorded.ts';
import { AFTER_ONE_TURN, bodyOf, decodeReads, profileOf, splitAt } from '../support.ts';

const read = (body: string) => readChatResponse(body, DEFAULT_PROFILE.chat, AFTER_ONE_TURN);

testRecordedBodies('upstream', (bytes) => readChatResponse(bodyOf(bytes), profileOf(bytes)));

describe('the word of an end', () => {
  const finishOf = (word: string) => {
    const choices = [{ message: { content: 'Hi' }, finish_reason: word }];
    return Reflect.get(read(JSON.stringify({ choices })), 'finish');
  };

  test.each([
    ...['length', 'max_tokens', 'MAX_TOKENS', 'maxTokens', 'max_output_tokens', 'max_output'],
    ...['model_length', 'model_context_window_exceeded', 'incomplete', 'token_limit', 'truncated'],
  ])('%s: cut', (word) => expect(finishOf(word)).toBe('length'));

  test.each(['stop', 'eos', 'end_turn', 'COMPLETE', 'rate_limited', 'stop_sequence'])(
    '%s: not cut',
    (word) => expect(finishOf(word)).toBe('stop'),
  );
});

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const name = fc.constantFrom('get_weather', 'f', 'g');
const json = fc.jsonValue().map((value) => JSON.stringify({ value }));

const answers: fc.Arbitrary<Answer> = fc
  .record({
    reasoning: text,
    text,
    calls: fc.array(fc.record({ name, arguments: json }), { maxLength: 4 }),
    tokens: fc.tuple(fc.nat(1_000), fc.nat(1_000), fc.nat(1_000), fc.nat(1_000), fc.nat(1_000)),
    hasUsage: fc.boolean(),
  })
  .map(({ reasoning, text, calls, tokens, hasUsage }) => {
    const [cached, written, uncached, thought, said] = tokens;
    const answer: Answer = {
      reasoning,
      text,
      toolCalls: calls.map((call, index) => ({ id: `call_${index}`, ...call })),
      finish: calls.length > 0 ? 'tool_calls' : 'stop',
    };
    if (!hasUsage) return answer;
    const usage = {
      inputTokens: cached + written + uncached,
      cachedInputTokens: cached,
      cacheWriteTokens: written,
      outputTokens: thought + said,
      reasoningTokens: thought,
      basis: 'reported' as const,
    };
    const rawUsage = JSON.stringify(renderUsage({ ...answer, usage }));
    return { ...answer, usage, rawUsage };
  });

describe('a whole answer and a stream of it', () => {
  test('are read as the same answer, however the stream is cut', () => {
    fc.assert(
      fc.property(answers, fc.infiniteStream(fc.nat(7)), (answer, lengths) => {
        expect(read(renderWhole(answer))).toEqual(answer);
        const bytes = new TextEncoder().encode(renderStream(answer, lengths));
        const fold = new Fold();
        const { events, failure } = decodeReads(splitAt(bytes, [bytes.length >> 1]));
        for (const event of events) fold.push(event);
        expect(failure).toBeUndefined();
        expect(fold.answer()).toEqual(answer);
      }),
      { numRuns: 500 },
    );
  });

  test('any JSON is an answer or a failure, never an exception', () => {
    const choice = fc.record({ message: fc.jsonValue(), finish_reason: fc.jsonValue() });
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ choices: fc.array(choice), usage: fc.jsonValue(), id: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(body, (value) => {
        const answer = read(JSON.stringify(value));
        expect(isFailure(answer) || typeof answer.text === 'string').toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a body above the limit is not parsed', () => {
    expect(read(' '.repeat(ANSWER_BYTES_MAX + 1))).toEqual({
      class: 'malformed',
      detail: 'the upstream sent more than 16777216 bytes',
    });
  });

  test('depth alone is a failure, not an exception', () => {
    expect(read(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toEqual({
      class: 'malformed',
      detail: 'the upstream sent a body with too many values, or nested too deep',
    });
  });
});

function renderUsage({ usage }: Answer): object | null {
  if (usage === undefined || usage.basis === 'rejected') return null;
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function renderWhole(answer: Answer): string {
  const message = {
    content: answer.text,
    reasoning_content: answer.reasoning,
    tool_calls: answer.toolCalls.map(({ id, ...rest }) => ({ id, function: rest })),
  };
  const choices = [{ index: 0, message, finish_reason: answer.finish }];
  return JSON.stringify({ choices, usage: renderUsage(answer) });
}

function renderStream(answer: Answer, lengths: Iterator<number>): string {
  const cut = (whole: string): string[] => {
    const characters = Array.from(whole);
    const parts: string[] = [];
    while (characters.length > 0) {
      parts.push(characters.splice(0, (lengths.next().value ?? 0) + 1).join(''));
    }
    return parts;
  };
  const chunk = (delta: object, finish: string | null = null): object => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const chunks = [
    ...cut(answer.reasoning).map((part) => chunk({ reasoning_content: part })),
    ...cut(answer.text).map((part) => chunk({ content: part })),
    ...answer.toolCalls.flatMap((call, index) => [
      chunk({ tool_calls: [{ index, id: call.id, function: { name: call.name } }] }),
      ...cut(call.arguments).map((part) =>
        chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ]),
    chunk({}, answer.finish),
    { choices: [], usage: renderUsage(answer) },
  ];
  return `${chunks.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')}data: [DONE]\n\n`;
}
