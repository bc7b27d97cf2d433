// The stream of a repeat while its first request runs on another node, next to the first stream.

import { expect, test } from 'bun:test';
import { GatewayError } from '../../src/core/error.ts';
import type { Receipt } from '../../src/core/generation.ts';
import { createRequestId } from '../../src/core/id.ts';
import { answerId } from '../../src/generate/answer-head.ts';
import { announce, headOfRepeat } from '../../src/http/announced.ts';
import type { Recorded } from '../../src/http/recording.ts';
import { Transcript } from '../../src/idempotency/transcript.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import type { AnswerHead } from '../../src/wire/format.ts';
import { messagesFormat } from '../../src/wire/messages/format.ts';

const ASKED_AT = 1_790_000_000_900;
const REPEATED_AT = ASKED_AT + 30_000;
const REQUEST_ID = createRequestId(ASKED_AT, (length) => new Uint8Array(length).fill(7));
const BODY = { value: { model: 'alias-of-m', stream: true }, text: '' };
const CATALOG = {
  resolve: (name: string) => (name === 'alias-of-m' ? { slug: 'm' } : undefined),
};

const FIRST: AnswerHead = {
  ...{ id: answerId(REQUEST_ID), requestId: REQUEST_ID, model: 'm' },
  createdSeconds: Math.floor(ASKED_AT / 1_000),
  ...{ includeUsage: true, showReasoning: true },
};

const RECEIPT: Receipt = {
  usage: {
    ...{ inputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 },
    ...{ outputTokens: 1, reasoningTokens: 0, basis: 'reported' },
  },
  ...{ tokensDebited: '1', costUsd: '0.000001', balanceTokens: '1' },
  ...{ modelServed: 'm', fallbackUsed: false, outcome: 'completed' },
};

/** Both parts of the first stream: its beginning, and what followed. */
function firstStream({ stream }: typeof chatFormat): readonly [start: string, rest: string] {
  const encoder = stream(FIRST);
  return [
    encoder.start(),
    encoder.push({ kind: 'text-delta', text: 'Hi' }) + encoder.finish(RECEIPT),
  ];
}

async function repeatOf(format: typeof chatFormat, answer: Promise<Recorded>): Promise<string> {
  const { body } = announce({
    encoder: format.stream(headOfRepeat(REQUEST_ID, REPEATED_AT, BODY, CATALOG)),
    heartbeatMs: 1,
    signal: new AbortController().signal,
    onEnd: () => {},
    answer,
    errorOf: (error) =>
      error instanceof GatewayError ? error : new GatewayError('internal_error'),
  });
  return new Response(body).text();
}

function recorded(text: string): Recorded {
  const transcript = new Transcript();
  transcript.fill(Buffer.from(text));
  return { head: { requestId: REQUEST_ID, status: 200, headers: [], isStream: true }, transcript };
}

test.each([chatFormat, messagesFormat])(
  'is the first stream with heartbeats behind its first event ($name)',
  async (format) => {
    const [start, rest] = firstStream(format);
    const late = Bun.sleep(20).then(() => recorded(start + rest));
    const text = await repeatOf(format, late);
    expect(text).toStartWith(start);
    expect(text).toEndWith(rest);
    const beats = text.slice(start.length, -rest.length);
    const beat = format.stream(FIRST).heartbeat();
    expect(beats).toBe(beat.repeat(beats.length / beat.length));
    expect(beats).not.toBe('');
  },
);

test('ends with an error behind its first event if there is no answer', async () => {
  const error = new GatewayError('provider_unavailable');
  const text = await repeatOf(chatFormat, Promise.reject(error));
  const [start] = firstStream(chatFormat);
  expect(text).toBe(start + chatFormat.stream(FIRST).fail(error, undefined));
});
