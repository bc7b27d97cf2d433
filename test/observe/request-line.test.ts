// The log line of a request: its fields, its level, and that no input adds anything else.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isoTime } from '../../src/core/calendar.ts';
import { micro } from '../../src/core/money.ts';
import type { AnswerSummary, RequestSummary } from '../../src/core/request-summary.ts';
import { levelOf, requestLine } from '../../src/observe/request-line.ts';
import { ANSWER, REFUSED, SERVED } from './summaries.ts';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

/** The line as its reader has it, without what every line of the log begins and ends with. */
function lineOf(summary: RequestSummary): Record<string, unknown> {
  const text = requestLine(summary, isoTime(AT));
  expect(text).toEndWith('}\n');
  const { level, time, msg, ...line } = JSON.parse(text);
  expect([level, time, msg]).toEqual([levelOf(summary), '2026-01-02T03:04:05.006Z', 'request']);
  return line;
}

describe('the line of a request', () => {
  test('that was served', () => {
    expect(lineOf(SERVED)).toEqual({
      requestId: 'req_served',
      route: 'messages',
      format: 'messages',
      status: 200,
      accountId: 'acct_ada',
      keyId: 'key_1',
      model: 'swift-1',
      stream: true,
      durationMs: 1_234.57,
      outcome: 'completed',
      modelServed: 'swift-0',
      upstream: 'beta',
      fallbackUsed: true,
      attempts: 2,
      skipped: 1,
      firstByteMs: 40.25,
      firstContentMs: 50,
      estimatedInputTokens: 90,
      inputTokens: 100,
      cachedInputTokens: 60,
      cacheWriteTokens: 10,
      outputTokens: 20,
      reasoningTokens: 5,
      usageBasis: 'reported',
      tokensDebited: '1.5',
    });
  });

  test('that failed after it was let in', () => {
    const line = lineOf({
      ...SERVED,
      status: 503,
      code: 'provider_unavailable',
      answer: {
        modelServed: 'swift-1',
        fallbackUsed: false,
        outcome: 'upstream_failed',
        usage: { ...ANSWER.usage, doubt: 'implausible' },
        promptTokens: 90,
        debited: micro(0n),
        loss: micro(2_000_000n),
        attempts: [],
        failure: 'timeout',
      },
    });
    expect(line).toMatchObject({
      code: 'provider_unavailable',
      attempts: 0,
      failure: 'timeout',
      usageDoubt: 'implausible',
      tokensDebited: '0',
      tokensLost: '2',
    });
    expect(Object.keys(line)).not.toContain('upstream');
  });

  test('that was refused', () => {
    expect(lineOf(REFUSED)).toEqual({
      requestId: 'req_refused',
      route: 'chat_completions',
      format: 'chat',
      status: 401,
      code: 'invalid_api_key',
      durationMs: 0.5,
    });
  });

  test('a value in the place of a name is left out', () => {
    const key = `sk-${'aB3'.repeat(16)}`;
    for (const text of [key, 'a prompt', 'Prompt', '', 'x'.repeat(65), 'a\nb', 'req_a b']) {
      const line = lineOf({ ...SERVED, model: text, accountId: text, keyId: text });
      expect([line['model'], line['accountId'], line['keyId']]).toEqual(['?', '?', '?']);
    }
  });

  test('what a summary must not have does not get into it', () => {
    const secret = 'a secret thing';
    const extra = { ...SERVED, body: secret, answer: { ...ANSWER, headers: { key: secret } } };
    expect(requestLine(extra, isoTime(AT))).not.toContain(secret);
  });

  test('no free text passes, wherever it stands', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const canary = `Qzx ${text}`;
        const answer: AnswerSummary = { ...ANSWER, modelServed: canary, upstream: canary };
        const summary = { ...SERVED, requestId: canary, model: canary, keyId: canary, answer };
        expect(requestLine(summary, isoTime(AT))).not.toContain('Qzx');
      }),
    );
  });
});

test('a summary has no place for anything else', () => {
  const summaries: RequestSummary[] = [
    // @ts-expect-error a key has no place in it
    { ...REFUSED, key: 'sk-1' },
    // @ts-expect-error nor has a header
    { ...REFUSED, headers: {} },
    // @ts-expect-error nor has a body, or a prompt
    { ...REFUSED, prompt: 'Hello' },
    // @ts-expect-error nor has an address
    { ...REFUSED, address: '192.0.2.1' },
    // @ts-expect-error a code is one of ours
    { ...REFUSED, code: 'words of the upstream' },
    // @ts-expect-error and so is a route
    { ...REFUSED, route: '/v1/anything' },
    // @ts-expect-error an answer has no place for its words
    { ...SERVED, answer: { ...ANSWER, text: 'Hello' } },
    // @ts-expect-error a failure is a class of ours
    { ...SERVED, answer: { ...ANSWER, failure: 'the words of the upstream' } },
  ];
  expect(summaries).toHaveLength(8);
});

test.each<[string, Partial<RequestSummary>, string]>([
  ['an answer', {}, 'info'],
  ['a refusal', { status: 429, code: 'rate_limit_exceeded' }, 'info'],
  ['maintenance', { status: 503, code: 'maintenance_mode' }, 'info'],
  ['a client that left', { answer: { ...ANSWER, outcome: 'client_cancelled' } }, 'info'],
  ['an upstream that broke', { answer: { ...ANSWER, outcome: 'upstream_failed' } }, 'warn'],
  ['a stop of the server', { answer: { ...ANSWER, outcome: 'gateway_failed' } }, 'warn'],
  ['no upstream', { status: 503, code: 'provider_unavailable' }, 'warn'],
  ['a fault of ours', { status: 500, code: 'internal_error' }, 'error'],
])('%s is logged at its level', (_name, changes, level) => {
  expect(levelOf({ ...SERVED, ...changes })).toBe(level as ReturnType<typeof levelOf>);
});
