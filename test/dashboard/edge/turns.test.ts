// Long reads of an account run two at a time; others wait in line.

import { expect, test } from 'bun:test';
import { createTurns } from '../../../src/dashboard/edge/turns.ts';

function open() {
  const inTurn = createTurns();
  const running: (() => void)[] = [];
  const begun: string[] = [];
  return {
    begun,
    read: (accountId: string, name: string, signal = new AbortController().signal) =>
      inTurn(accountId, { signal }, async () => {
        begun.push(name);
        await new Promise<void>((resolve) => running.push(resolve));
        if (name === 'broken') throw new Error(name);
        return name;
      }),
    /** Ends the read that has run longest, and lets the next one begin. */
    async end(): Promise<void> {
      running.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('two reads of an account run at a time, and others in the order of their calls', async () => {
  const { begun, read, end } = open();
  const all = ['a', 'b', 'c', 'd'].map((name) => read('ann', name));
  const other = read('ben', 'other');
  expect(begun).toEqual(['a', 'b', 'other']);
  await end();
  expect(begun).toEqual(['a', 'b', 'other', 'c']);
  for (let left = 0; left < 4; left += 1) await end();
  expect(await Promise.all([...all, other])).toEqual(['a', 'b', 'c', 'd', 'other']);
});

test('a read that fails passes its turn on', async () => {
  const { begun, read, end } = open();
  const broken = read('ann', 'broken');
  const rest = ['b', 'c', 'd'].map((name) => read('ann', name));
  const failure = broken.catch((error: Error) => error.message);
  await end();
  expect(await failure).toBe('broken');
  expect(begun).toEqual(['broken', 'b', 'c']);
  for (let left = 0; left < 3; left += 1) await end();
  expect(await Promise.all(rest)).toEqual(['b', 'c', 'd']);
});

test('the read of a client that left while it waited is not run', async () => {
  const { begun, read, end } = open();
  const client = new AbortController();
  const first = ['a', 'b'].map((name) => read('ann', name));
  const left = read('ann', 'left', client.signal).catch((error: { code: string }) => error.code);
  const last = read('ann', 'last');
  client.abort();
  await end();
  expect(await left).toBe('unavailable');
  expect(begun).toEqual(['a', 'b', 'last']);
  for (let count = 0; count < 2; count += 1) await end();
  expect(await Promise.all([...first, last])).toEqual(['a', 'b', 'last']);
});

test('refuses a read when 50 wait', async () => {
  const { read, end } = open();
  const all = Array.from({ length: 52 }, (_, index) => read('ann', String(index)));
  await expect(read('ann', 'one more')).rejects.toMatchObject({
    code: 'too_many_attempts',
    message: 'The limit of 50 waiting reads is reached. Try again in 10 seconds.',
    retryAfterSeconds: 10,
  });
  for (let left = 0; left < 52; left += 1) await end();
  expect(await Promise.all(all)).toHaveLength(52);
});
