// An attempt over real sockets: it cuts at stop sequences, stops the upstream there, and bounds what
// an upstream may send. The search itself is tested in core/stop.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Behaviour, play, sendText, sendWhole, streamHead } from '../support/behaviours.ts';
import { type Piece, type Script, streamFrames, wholeBody } from '../support/render.ts';
import { type AttemptRig, joined, startAttemptRig } from './rig.ts';

const PARTS = ['one ', 'two E', 'X E', 'N', 'D three', ' four'];
const SCRIPT: Script = {
  pieces: [{ reasoning: 'END of thinking' }, ...PARTS.map((text): Piece => ({ text }))],
  finish: 'length',
  usage: { prompt: 10, cached: 4, completion: 500 },
};

/** The answer up to `END`, in pieces of any size. */
const CUT = [
  { kind: 'reasoning-delta', text: 'END of thinking' },
  { kind: 'text-delta', text: 'one two EX ' },
  { kind: 'finish', reason: 'stop' },
] as const;

/** Writes the script's text and then says nothing: the client has to close. */
const endless: Behaviour = async (exchange) => {
  streamHead(exchange);
  for (const frame of streamFrames('chat', 'any', SCRIPT).slice(0, -3)) exchange.write(frame);
  await exchange.untilGone();
};

/** Says all that there is to say, but neither that it is over nor anything more. */
const finishesAndStays: Behaviour = async (exchange) => {
  streamHead(exchange);
  const { dialect } = exchange.request;
  for (const frame of streamFrames(dialect, 'any', SCRIPT).slice(0, -1)) exchange.write(frame);
  await exchange.untilGone();
};

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  endless,
  'finishes-and-stays': finishesAndStays,
  script: play(SCRIPT),
  'one-read': (exchange) => sendText(exchange, streamFrames('chat', 'any', SCRIPT).join('')),
  json: (exchange) => sendWhole(exchange, 200, wholeBody('chat', 'any', SCRIPT)),
  'breaks-with-a-beginning': (exchange) =>
    sendText(exchange, streamFrames('chat', 'any', SCRIPT).slice(0, 6).join('')),
  'breaks-behind-the-sequence': (exchange) =>
    sendText(exchange, streamFrames('chat', 'any', SCRIPT).slice(0, -3).join('')),
};

let rig: AttemptRig;

beforeAll(async () => {
  rig = await startAttemptRig(BEHAVIOURS);
});

afterAll(() => rig.close());

/** Two sequences that are sent, and one that is not. */
const stop = ['never', 'at all', 'END'];
const profile = { stopMax: 2 };

test.each(['chat', 'messages'] as const)(
  'an upstream that has finished and does not end is not waited for, %s',
  async (dialect) => {
    const startedAt = Date.now();
    const { events, end } = await rig.run('finishes-and-stays', { dialect });
    expect(end).toBe('finished');
    expect(events.slice(-2).map((event) => event.kind)).toEqual(['usage', 'finish']);
    expect(Date.now() - startedAt).toBeLessThan(30_000);
    await rig.upstream.waitFor((upstream) => upstream.active() === 0);
  },
);

describe('stop sequences that the upstream does not get', () => {
  test.each([[true], [false]])(
    'client streams: %p: the upstream is asked to stream, cut, and left',
    async (stream) => {
      const before = rig.upstream.aborted();
      const { events, end } = await rig.run('endless', { stream, stop, profile });
      expect(joined(events)).toEqual([...CUT]);
      expect(end).toBe('finished');
      await rig.upstream.waitFor(({ aborted }) => aborted() > before);
      expect(rig.upstream.requests.at(-1)?.stream).toBe(true);
    },
  );

  test.each([['one-read'], ['json']])(
    '%s: text behind the cut is not delivered, its usage neither',
    async (model) => {
      const { events, end } = await rig.run(model, { stop, profile });
      expect(joined(events)).toEqual([...CUT]);
      expect(end).toBe('finished');
    },
  );

  test('a stream that breaks gives what was held back, and is a failure', async () => {
    const { events, end } = await rig.run('breaks-with-a-beginning', { stop, profile });
    expect(joined(events)).toEqual([CUT[0], { kind: 'text-delta', text: 'one two EX EN' }]);
    expect(end).toMatchObject({ class: 'cut' });
  });

  test('a stream that breaks behind the sequence had been complete', async () => {
    const { events, end } = await rig.run('breaks-behind-the-sequence', { stop, profile });
    expect(joined(events)).toEqual([...CUT]);
    expect(end).toBe('finished');
  });

  test('an answer without any of them is what it would have been', async () => {
    const others = ['never', 'at all', 'at no time'];
    const { events, end } = await rig.run('script', {
      stop: others,
      profile,
      maxOutputTokens: 500,
    });
    expect(joined(events)).toEqual([
      CUT[0],
      { kind: 'text-delta', text: PARTS.join('') },
      {
        kind: 'usage',
        raw: expect.stringMatching(/^\{"prompt_tokens":10,/),
        usage: {
          inputTokens: 10,
          cachedInputTokens: 4,
          cacheWriteTokens: 0,
          outputTokens: 500,
          reasoningTokens: 0,
          basis: 'reported',
        },
      },
      { kind: 'finish', reason: 'length' },
    ]);
    expect(end).toBe('finished');
  });
});

describe('an upstream that ignores the stop sequences that it gets', () => {
  test.each([['endless'], ['script'], ['one-read'], ['json']])('%s: is cut', async (model) => {
    const { events, end } = await rig.run(model, { stop });
    expect(rig.upstream.requests.at(-1)).toMatchObject({ stream: true, body: { stop } });
    expect(joined(events)).toEqual([...CUT]);
    expect(end).toBe('finished');
  });

  test('a whole answer is not asked for as a stream', async () => {
    const { events } = await rig.run('script', { stream: false, stop });
    expect(rig.upstream.requests.at(-1)).toMatchObject({ stream: false, body: { stop } });
    expect(joined(events)).toEqual([...CUT]);
  });
});

test('an answer that its upstream finished is shown with its usage, and one that was cut is not', async () => {
  const shown = async (...[model, options]: Parameters<AttemptRig['run']>) => {
    const before = rig.finished.length;
    await rig.run(model, { maxOutputTokens: 500, ...options });
    const now = rig.finished.slice(before);
    return now.map(([streamed, kinds]) => `${streamed}: ${kinds.slice(-2)}`);
  };
  const streamed = ['true: usage,finish'];
  expect(await shown('script')).toEqual(streamed);
  expect(await shown('script', { stream: false })).toEqual(['false: usage,finish']);
  expect(await shown('script', { stop: ['never', 'at all', 'no'], profile })).toEqual(streamed);
  expect(await shown('script', { stop, profile })).toEqual([]);
  expect(await shown('script', { stop, profile, billsToEnd: true })).toEqual([]);
  expect(await shown('breaks-with-a-beginning')).toEqual([]);
});
