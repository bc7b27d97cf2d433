// An answer before its events are parsed: the size limit of a whole answer, with a length, in
// chunks, or where a stream was requested, and the retry delay of a refusal.

import { afterAll, expect, test } from 'bun:test';
import { createDeadlines } from '../../src/core/deadlines.ts';
import { isFailure, type UpstreamFailure } from '../../src/core/failure.ts';
import { DEFAULT_PROFILE } from '../../src/core/profile.ts';
import { type Batch, openSource } from '../../src/upstream/source.ts';
import type { UpstreamAnswer } from '../../src/upstream/transport.ts';
import { chatDialect } from '../../src/wire/upstream/chat/dialect.ts';
import { ANSWER_BYTES_MAX } from '../../src/wire/upstream/limits.ts';
import { chatUpstream } from '../support/model.ts';
import { createTestClient } from '../support/upstream-client.ts';

const ANSWER = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
});

/** The answer and so much white space that it has as many bytes as the path says. */
const server = Bun.serve({
  port: 0,
  fetch(request) {
    const [, how, size] = new URL(request.url).pathname.split('/');
    const bytes = Buffer.alloc(Number(size), ' ');
    bytes.write(ANSWER);
    if (how === 'declared') return new Response(bytes, { headers: { 'content-type': JSON_TYPE } });
    const type = how === 'streamed' ? 'text/event-stream' : JSON_TYPE;
    return new Response(inChunks(bytes), { headers: { 'content-type': type } });
  },
});
afterAll(() => server.stop(true));

const JSON_TYPE = 'application/json';

async function* inChunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += 262_144) {
    yield bytes.subarray(from, from + 262_144);
  }
}

const client = createTestClient();

async function readWhole(how: string, size: number): Promise<Batch> {
  const dialect = chatDialect(DEFAULT_PROFILE.chat);
  const answer = await client.send({
    upstream: { ...chatUpstream('any'), baseUrl: `http://127.0.0.1:${server.port}` },
    connectMs: 1_000,
    path: `/${how}/${size}`,
    headers: {},
    body: '{}',
    signal: new AbortController().signal,
  });
  const deadlines = createDeadlines(() => performance.now());
  const source = await openSource(answer, dialect, deadlines, how === 'streamed');
  return isFailure(source) ? { events: [], end: source } : source.read();
}

test.each(['declared', 'chunked', 'streamed'])(
  'an answer may be as large as its bound, and not larger: %s',
  async (how) => {
    expect((await readWhole(how, ANSWER_BYTES_MAX)).end).toBe('finished');
    expect(await readWhole(how, ANSWER_BYTES_MAX + 1)).toEqual({
      events: [],
      end: {
        class: 'malformed',
        detail: `the answer is larger than ${ANSWER_BYTES_MAX} bytes`,
      },
    });
  },
);

test.each([
  [429, 1_500, { class: 'rate_limited', status: 429, retryAfterMs: 1_500 }],
  [503, 0, { class: 'overloaded', status: 503, retryAfterMs: 0 }],
  [503, undefined, { class: 'overloaded', status: 503 }],
] as const)('%d, and again after %p ms', async (status, retryAfterMs, expected) => {
  const answer: UpstreamAnswer = {
    status,
    isJson: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    text: async () => '{"error":{"message":"not now"}}',
    reader: () => undefined,
  };
  const deadlines = createDeadlines(() => performance.now());
  const dialect = chatDialect(DEFAULT_PROFILE.chat);
  const detail = `the upstream answered with status ${status}`;
  const opened = await openSource(answer, dialect, deadlines, true);
  const said = { message: 'not now' };
  expect(opened).toEqual({ detail, said, ...expected } as UpstreamFailure);
});
