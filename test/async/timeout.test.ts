import { expect, test } from 'bun:test';
import { withTimeout } from '../../src/async/timeout.ts';

const never = new Promise<never>(() => undefined);

test('is what the promise settles to', async () => {
  expect(await withTimeout(1_000, Promise.resolve('a'))).toBe('a');
  await expect(withTimeout(1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('is what was given for late once the time is up', async () => {
  expect(await withTimeout(1, never)).toBeUndefined();
  expect(await withTimeout(1, never, 'late')).toBe('late');
});

test('a rejection after the time is up is no unhandled one', async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  expect(await withTimeout(1, promise, 'late')).toBe('late');
  reject(new Error('too late'));
  await Bun.sleep(5);
});

test('leaves no timer behind', async () => {
  const module = JSON.stringify(`${import.meta.dir}/../../src/async/timeout.ts`);
  const code = `const { withTimeout } = await import(${module}); await withTimeout(60_000, Promise.resolve());`;
  const startedAt = performance.now();
  await Bun.spawn([process.execPath, '-e', code]).exited;
  expect(performance.now() - startedAt).toBeLessThan(50_000);
});
