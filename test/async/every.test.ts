import { expect, test } from 'bun:test';
import { every } from '../../src/async/every.ts';

test('a run that takes longer than the interval skips the runs that it overlaps', async () => {
  let open = 0;
  let most = 0;
  let runs = 0;
  const stop = every(1, async () => {
    open += 1;
    most = Math.max(most, open);
    await Bun.sleep(20);
    open -= 1;
    runs += 1;
  });
  while (runs < 3) await Bun.sleep(1);
  stop();
  expect(most).toBe(1);
});

test('goes on after an error, thrown or rejected', async () => {
  const errors: unknown[] = [];
  let runs = 0;
  const fail = (): Promise<void> => {
    runs += 1;
    if (runs === 1) throw new Error('thrown');
    return runs === 2 ? Promise.reject(new Error('rejected')) : Promise.resolve();
  };
  const stop = every(1, fail, (error) => errors.push(error));
  while (runs < 4) await Bun.sleep(1);
  stop();
  expect(errors.map(String)).toEqual(['Error: thrown', 'Error: rejected']);
});

test('does not run at once, nor after it was stopped', async () => {
  let runs = 0;
  const stop = every(5, () => {
    runs += 1;
  });
  expect(runs).toBe(0);
  while (runs === 0) await Bun.sleep(1);
  stop();
  const before = runs;
  await Bun.sleep(30);
  expect(runs).toBe(before);
});

test('its timer does not keep the process alive, and a failure without a handler ends it', async () => {
  const module = JSON.stringify(`${import.meta.dir}/../../src/async/every.ts`);
  const run = (code: string) => {
    const program = `const { every } = await import(${module}); ${code}`;
    return Bun.spawn([process.execPath, '-e', program], { stderr: 'ignore' }).exited;
  };
  expect(await run('every(60_000, () => 1);')).toBe(0);
  expect(await run("every(1, () => { throw new Error('x'); }); setTimeout(() => 1, 20_000);")).toBe(
    1,
  );
});
