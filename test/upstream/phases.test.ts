// The phase in which an attempt failed: the client's report of the connection is kept, and the rest
// follows from what had arrived.

import { expect, test } from 'bun:test';
import { createDeadlines } from '../../src/core/deadlines.ts';
import type { AttemptPhase, UpstreamFailure } from '../../src/core/failure.ts';
import type { ContentPart } from '../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../src/core/profile.ts';
import { type Attempt, createAttempts } from '../../src/upstream/attempt.ts';
import type { UpstreamAnswer, UpstreamClient } from '../../src/upstream/transport.ts';
import { candidate } from '../generate/fixtures.ts';
import { chatUpstream } from '../support/model.ts';
import { chatFrame } from '../support/render.ts';
import { requestWith } from '../support/request.ts';

/** An answer of these pieces, each read in its turn; without any, its body is the error's. */
function answerOf(status: number, pieces: readonly string[]): UpstreamAnswer {
  const left = pieces.map((piece) => new TextEncoder().encode(piece));
  return {
    status,
    isJson: false,
    text: async () => pieces.join(''),
    reader: () => ({
      async read() {
        const value = left.shift();
        return value === undefined ? { done: true } : { done: false, value };
      },
      cancel: async () => {},
    }),
  };
}

/** An attempt in which the client answers so, ten milliseconds after it was asked. */
function attemptAt(
  answer: UpstreamAnswer | UpstreamFailure,
  parts: readonly ContentPart[],
): Attempt {
  let nowMs = 100;
  const client: Pick<UpstreamClient, 'send'> = {
    async send() {
      nowMs += 10;
      return answer;
    },
  };
  const profile = { ...DEFAULT_PROFILE.chat, contentParts: 'never' } as const;
  return createAttempts({
    client,
    clock: () => 0,
    deadlines: createDeadlines(() => nowMs),
  })({
    candidate: { ...candidate('a'), upstream: chatUpstream('a'), profile },
    credential: { id: '3', apiKey: 'key' },
    request: requestWith({ model: 'a', turns: [{ role: 'user', parts }], stream: true }),
    maxOutputTokens: 100,
    stream: true,
  });
}

const TEXT: ContentPart = { kind: 'text', text: 'Hello?' };
const IMAGE: ContentPart = { kind: 'image', url: 'https://example.com/a.png' };
const ROLE = chatFrame('any', { role: 'assistant', content: '' });
const WORD = chatFrame('any', { content: 'Hello' });
const ERROR = 'data: {"error":{"message":"no"}}\n\n';

const REFUSED: UpstreamFailure = { class: 'unreachable', phase: 'connect', detail: 'refused' };
const SLOW: UpstreamFailure = { class: 'timeout', phase: 'connect', detail: 'no connection' };
const CLOSED: UpstreamFailure = { class: 'unreachable', detail: 'closed' };

type Row = readonly [
  title: string,
  answer: UpstreamAnswer | UpstreamFailure,
  phase: AttemptPhase | undefined,
  heard: readonly string[],
  part?: ContentPart,
];

const ROWS: readonly Row[] = [
  ['no connection', REFUSED, 'connect', []],
  ['none in time', SLOW, 'connect', []],
  ['closed before an answer', CLOSED, 'first_byte', []],
  ['a body that ends at once', answerOf(200, []), 'first_byte', []],
  ['a status', answerOf(500, []), 'first_content', ['firstByteMs']],
  ['a role and no more', answerOf(200, [ROLE]), 'first_content', ['firstByteMs']],
  ['an error in place of content', answerOf(200, [ROLE, ERROR]), 'first_content', ['firstByteMs']],
  ['a word and no more', answerOf(200, [ROLE, WORD]), 'stream', ['firstByteMs', 'firstContentMs']],
  [
    'a word and an error',
    answerOf(200, [WORD, ERROR]),
    'stream',
    ['firstByteMs', 'firstContentMs'],
  ],
  ['never sent', answerOf(200, [WORD]), undefined, [], IMAGE],
];

test.each(ROWS.map((row) => [row[0], row] as const))('%s', async (_, row) => {
  const [, answer, phase, heard, part = TEXT] = row;
  const attempt = attemptAt(answer, [part]);
  let batch = await attempt.next();
  while (batch.end === undefined) batch = await attempt.next();
  if (batch.end === 'finished') throw new Error('no failure');
  expect({ phase: batch.end.phase, heard: Object.keys(attempt.times()) }).toEqual({
    phase,
    heard: [...heard],
  });
  expect(attempt.credential).toBe('3');
});
