// A bounded line: few pieces of work run at once, and lanes that wait take turns.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createLine } from '../../src/async/line.ts';

const FULL = new Error('The line is full.');

/** A line whose work runs until `end` is called. */
function open(atOnceMax: number, waitingMax: number) {
  const running: { readonly name: string; readonly end: (error?: Error) => void }[] = [];
  const begun: string[] = [];
  const idle: number[] = [];
  const line = createLine({
    ...{ atOnceMax, waitingMax, full: () => FULL },
    onIdle: () => idle.push(begun.length),
  });
  return {
    begun,
    idle,
    running,
    ask: (lane: string, name: string) =>
      line(lane, async () => {
        begun.push(name);
        await new Promise<void>((resolve, reject) => {
          running.push({ name, end: (error) => (error ? reject(error) : resolve()) });
        });
        return name;
      }),
    /** Ends one piece of work, and lets the next one begin. */
    async end(at = 0, error?: Error): Promise<void> {
      const [work] = running.splice(at, 1);
      work?.end(error);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('a call of a full lane is refused, and one of another lane waits', async () => {
  const { ask, end, running } = open(1, 2);
  const all = ['a', 'b', 'c'].map((name) => ask('flood', name));
  await expect(ask('flood', 'd')).rejects.toBe(FULL);
  all.push(ask('other', 'e'));
  while (running.length > 0) await end();
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'e']);
});

test('a lane that comes later waits for one piece of work of a flood', async () => {
  const { ask, begun, end, running } = open(1, 50);
  const flood = Array.from({ length: 40 }, (_, at) => ask('flood', `flood-${at}`));
  const others = ['a', 'b'].map((name) => ask('other', name));
  for (let count = 0; count < 4; count += 1) await end();
  expect(begun).toEqual(['flood-0', 'flood-1', 'a', 'flood-2', 'b']);
  while (running.length > 0) await end();
  await Promise.all([...flood, ...others]);
});

test('work that fails rejects its own promise and leaves its place', async () => {
  const { ask, begun, end, idle } = open(1, 2);
  const failing = ask('a', 'failing').catch((error: Error) => error.message);
  const next = ask('a', 'next');
  await end(0, new Error('no'));
  expect(await failing).toBe('no');
  expect(begun).toEqual(['failing', 'next']);
  expect(idle).toEqual([]);
  await end();
  expect(await next).toBe('next');
  expect(idle).toEqual([2]);
});

const STEP = fc.oneof(
  fc.constantFrom('a', 'b', 'c').map((lane) => ({ lane })),
  fc.nat().map((end) => ({ end })),
);

test('law: places are used, lanes keep their order, and no lane passes another twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(STEP, { maxLength: 60 }),
      async (atOnceMax, waitingMax, steps) => {
        const { ask, begun, end, running } = open(atOnceMax, waitingMax);
        const asked: { name: string; lane: string; ahead: number; begunBefore: number }[] = [];
        const all: Promise<string>[] = [];
        for (const step of steps) {
          if ('end' in step) {
            if (running.length > 0) await end(step.end % running.length);
            expect(running.length).toBe(
              Math.min(atOnceMax, asked.length - begun.length + running.length),
            );
            continue;
          }
          const { lane } = step;
          const ahead = asked.filter(
            (each) => each.lane === lane && !begun.includes(each.name),
          ).length;
          const promise = ask(lane, `${lane}${asked.length}`);
          if (ahead === waitingMax) await expect(promise).rejects.toBe(FULL);
          else {
            asked.push({ name: `${lane}${asked.length}`, lane, ahead, begunBefore: begun.length });
            all.push(promise);
          }
        }
        while (running.length > 0) await end();
        expect(await Promise.all(all)).toEqual(asked.map(({ name }) => name));
        for (const { name, lane, ahead, begunBefore } of asked) {
          const meanwhile = begun.slice(begunBefore, begun.indexOf(name));
          const passed = Map.groupBy(meanwhile, (other) => other.charAt(0));
          expect(passed.get(lane) ?? []).toHaveLength(ahead);
          passed.delete(lane);
          for (const others of passed.values())
            expect(others.length).toBeLessThanOrEqual(ahead + 1);
        }
      },
    ),
  );
});
