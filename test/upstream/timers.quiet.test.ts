// The timers of an attempt over real sockets, in both dialects: which ones a slow upstream hits,
// and that a slow client hits none.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { AttemptPhase } from '../../src/core/failure.ts';
import type { UpstreamTimeouts } from '../../src/core/model.ts';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { type Script, streamFrames, wholeBody } from '../support/render.ts';
import type { Exchange } from '../support/upstream.ts';
import { type AttemptRig, startAttemptRig } from './rig.ts';

const SCRIPT: Script = { pieces: [{ text: 'Hello ' }, { text: 'world.' }], finish: 'stop' };
const DIALECTS = ['chat', 'messages'] as const;

/** The frames of the script: what opens the answer, its words one by one, and what ends it. */
function framesOf({ request }: Exchange): Readonly<Record<'head' | 'words' | 'tail', string[]>> {
  const frames = streamFrames(request.dialect, 'any', SCRIPT);
  const first = frames.findIndex((frame) => frame.includes('Hello'));
  return {
    head: frames.slice(0, first),
    words: frames.slice(first, first + 2),
    tail: frames.slice(first + 2),
  };
}

function write(exchange: Exchange, frames: readonly string[]): void {
  for (const frame of frames) exchange.write(frame);
}

/** Writes the same piece every 20 ms for as long as the client is connected. */
async function repeat(exchange: Exchange, piece: string): Promise<void> {
  while (!exchange.gone()) {
    exchange.write(piece);
    await exchange.sleep(20);
  }
}

/** What a server that keeps the line alive may write. */
const KEEP_ALIVES = {
  chat: ': waiting\n\ndata: \n\n\n\n',
  messages: ': waiting\n\nevent: ping\ndata: {"type":"ping"}\n\n\n\n',
  responses: ': waiting\n\ndata: \n\n\n\n',
} as const;

const keepAlive = (exchange: Exchange): Promise<void> =>
  repeat(exchange, KEEP_ALIVES[exchange.request.dialect]);

const begins: Behaviour = (exchange) => {
  const { head, words } = framesOf(exchange);
  streamHead(exchange);
  write(exchange, [...head, ...words]);
};

type Row = readonly [
  title: string,
  phase: AttemptPhase,
  behaviour: Behaviour,
  timeouts?: Partial<UpstreamTimeouts>,
];

/** The times of TIMEOUTS, unless the row says otherwise. */
const ROWS: readonly Row[] = [
  ['no answer', 'first_byte', (exchange) => exchange.untilGone()],
  [
    'headers alone',
    'first_byte',
    async (exchange) => {
      streamHead(exchange);
      await exchange.untilGone();
    },
  ],
  [
    'headers without end',
    'first_byte',
    async (exchange) => {
      exchange.raw('HTTP/1.1 200 OK\r\n');
      while (!exchange.gone()) {
        exchange.raw('x-more: yes\r\n');
        await exchange.sleep(20);
      }
    },
  ],
  [
    'an error that never comes',
    'first_byte',
    async (exchange) => {
      exchange.head(500, { 'content-type': 'application/json', 'content-length': '9' });
      await exchange.untilGone();
    },
  ],
  [
    'keep-alives alone',
    'first_content',
    async (exchange) => {
      streamHead(exchange);
      await keepAlive(exchange);
    },
  ],
  [
    'a role, then keep-alives',
    'first_content',
    async (exchange) => {
      streamHead(exchange);
      write(exchange, framesOf(exchange).head);
      await keepAlive(exchange);
    },
  ],
  [
    'a role, then silence',
    'first_content',
    async (exchange) => {
      streamHead(exchange);
      write(exchange, framesOf(exchange).head);
      await exchange.untilGone();
    },
  ],
  [
    'content, then silence',
    'stream',
    async (exchange) => {
      await begins(exchange);
      await exchange.untilGone();
    },
  ],
  [
    'content, then keep-alives',
    'stream',
    async (exchange) => {
      await begins(exchange);
      await keepAlive(exchange);
    },
  ],
  [
    'a trickle of content',
    'throughput',
    async (exchange) => {
      await begins(exchange);
      await repeat(exchange, framesOf(exchange).words[0] ?? '');
    },
    // A word every 20 ms is less than 75 tokens a second.
    { minTokensPerSecond: 500 },
  ],
  [
    'content without end',
    'total',
    async (exchange) => {
      await begins(exchange);
      await repeat(exchange, framesOf(exchange).words[0] ?? '');
    },
  ],
];

/** Pauses in every step, in all longer than one step may take. */
const slow: Behaviour = async (exchange) => {
  const { head, words, tail } = framesOf(exchange);
  for (const frames of [head, ...words.map((word) => [word]), tail]) {
    await exchange.sleep(250);
    if (frames === head) streamHead(exchange);
    write(exchange, frames);
  }
  exchange.end();
};

/** Answers at once, and says the rest when it is asked for it. */
let goOn = (): void => {};
const waits: Behaviour = async (exchange) => {
  await begins(exchange);
  await new Promise<void>((resolve) => {
    goOn = resolve;
  });
  write(exchange, framesOf(exchange).tail);
  exchange.end();
};

const slowPiece: Behaviour = async (exchange) => {
  await exchange.sleep(400);
  const body = wholeBody(exchange.request.dialect, 'any', SCRIPT);
  exchange.head(200, { 'content-type': 'application/json', 'content-length': `${body.length}` });
  exchange.write(body);
  exchange.end();
};

const TIMEOUTS = { firstByteMs: 800, firstContentMs: 1_200, idleMs: 800, totalMs: 3_000 };

let rig: AttemptRig;

beforeAll(async () => {
  rig = await startAttemptRig({
    ...Object.fromEntries(ROWS.map(([title, , behaviour]) => [title, behaviour])),
    slow,
    waits,
    slowPiece,
  });
});

afterAll(() => rig.close());

const CASES = DIALECTS.flatMap((dialect) =>
  (['sockets', 'fetch'] as const).flatMap((transport) =>
    ROWS.map(([title, phase, , more = {}]) => [dialect, transport, title, phase, more] as const),
  ),
);

test.concurrent.each(CASES)(
  '%s by %s: %s: %s runs out',
  async (dialect, transport, title, phase, more) => {
    const timeouts = { ...TIMEOUTS, ...more };
    const { end } = await rig.run(title, { dialect, transport, timeouts });
    expect(end).toMatchObject({ class: 'timeout', phase });
  },
);

test.each(DIALECTS)(
  '%s: what is slow in every step, but not too slow, is an answer',
  async (dialect) => {
    const { events, end } = await rig.run('slow', { dialect, timeouts: TIMEOUTS });
    expect(end).toBe('finished');
    expect(events.filter(({ kind }) => kind === 'text-delta').length).toBe(2);
  },
);

test.each(DIALECTS)('%s: who does not read runs into nothing', async (dialect) => {
  const timeouts = { ...TIMEOUTS, minTokensPerSecond: 5, totalMs: 20_000 };
  const attempt = rig.start('waits', { dialect, timeouts });
  let words = 0;
  while (words < 2) {
    const { events } = await attempt.next();
    words += events.filter(({ kind }) => kind === 'text-delta').length;
  }
  await Bun.sleep(1_500);
  goOn();
  let batch = await attempt.next();
  while (batch.end === undefined) batch = await attempt.next();
  expect(batch.end).toBe('finished');
  expect(attempt.times()).toEqual({
    firstByteMs: expect.any(Number),
    firstContentMs: expect.any(Number),
  });
});

test.each(DIALECTS)('%s: an answer in one piece has as long as first content', async (dialect) => {
  const stream = false;
  const patient = { ...TIMEOUTS, firstContentMs: 5_000, totalMs: 5_000 };
  expect((await rig.run('slowPiece', { dialect, stream, timeouts: patient })).end).toBe('finished');
  const hasty = { ...patient, firstContentMs: 200 };
  expect((await rig.run('slowPiece', { dialect, stream, timeouts: hasty })).end).toEqual({
    class: 'timeout',
    phase: 'first_content',
    detail: 'no content within 200 ms',
  });
});

test('afterwards no upstream is left that a caller waits for', async () => {
  await rig.upstream.waitFor(({ active }) => active() === 0);
  expect(rig.upstream.active()).toBe(0);
});
