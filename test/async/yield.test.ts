import { expect, test } from 'bun:test';
import { createPause, nextTurn } from '../../src/async/yield.ts';

const PIECES = 10;

/** Readers that take long for each piece; answers the pieces of each turn of the event loop. */
async function piecesOfTurns(readers: number): Promise<readonly number[]> {
  const turns: number[] = [];
  let pieces = 0;
  let reading = true;
  async function read(): Promise<void> {
    let now = 0;
    const pause = createPause(() => {
      now += 5;
      return now;
    });
    for (let piece = 0; piece < PIECES; piece += 1) {
      pieces += 1;
      await pause();
    }
  }
  const all = Promise.all(Array.from({ length: readers }, read)).then(() => {
    reading = false;
  });
  while (reading) {
    await new Promise((resolve) => setImmediate(resolve));
    turns.push(pieces);
    pieces = 0;
  }
  await all;
  return turns;
}

test.each([1, 2, 20])('of %d who read at once, one has a piece in each turn', async (readers) => {
  const [first, ...turns] = await piecesOfTurns(readers);
  // Each begins at once, as requests that come in one by one do.
  expect(first).toBeLessThanOrEqual(readers + 1);
  expect(Math.max(...turns)).toBe(1);
  expect(turns.length).toBeGreaterThanOrEqual((PIECES - 1) * readers - 1);
});

test('a reader whose pieces are short does not wait', () => {
  const pause = createPause(() => 7);
  expect([pause(), pause(), pause()]).toEqual([undefined, undefined, undefined]);
});

test('of many who ask for a turn at once, each has one of its own', async () => {
  const order: string[] = [];
  const asked = [1, 2, 3].map((each) => nextTurn().then(() => order.push(`begins ${each}`)));
  for (const turn of [1, 2, 3]) {
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`turn ${turn}`);
  }
  await Promise.all(asked);
  expect(order.filter((each) => each.startsWith('begins'))).toEqual([
    'begins 1',
    'begins 2',
    'begins 3',
  ]);
  expect(order.indexOf('turn 1')).toBeLessThan(order.indexOf('begins 2'));
  expect(order.indexOf('turn 2')).toBeLessThan(order.indexOf('begins 3'));
});
