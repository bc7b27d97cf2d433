import { expect, test } from 'bun:test';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createSerialize } from '../../src/async/serialize.ts';

test('runs one task after the other, in the order of the calls', async () => {
  const serialize = createSerialize();
  const steps: string[] = [];
  const task = (name: string, ms: number) =>
    serialize(async () => {
      steps.push(`${name} begins`);
      await Bun.sleep(ms);
      steps.push(`${name} ends`);
      return name;
    });
  const names = await Promise.all([task('a', 10), task('b', 0), serialize(() => 'c')]);
  expect(names).toEqual(['a', 'b', 'c']);
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

test('a task that fails rejects its own promise and holds up no other', async () => {
  const serialize = createSerialize();
  const failing = serialize(() => Promise.reject(new Error('no')));
  const throwing = serialize(() => {
    throw new Error('never');
  });
  const next = serialize(() => 1);
  expect(await Promise.allSettled([failing, throwing, next])).toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
    { status: 'fulfilled', value: 1 },
  ]);
});

test('a task runs in the context of its caller', async () => {
  const serialize = createSerialize();
  const context = new AsyncLocalStorage<string>();
  const ask = () => serialize(() => context.getStore());
  const [a, b] = [context.run('a', ask), context.run('b', ask)];
  expect(await Promise.all([a, b, ask()])).toEqual(['a', 'b', undefined]);
});
