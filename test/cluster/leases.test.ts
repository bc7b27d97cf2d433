// Leases under any order of acquiring, releasing and passing time, from several connections at
// once.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { describeOnDatabases, START_MS } from './databases.ts';
import { openWorld, type World } from './world.ts';

const FOR_MS = 10_000;
const HOLDERS = [0, 1, 2] as const;

type Step =
  | { readonly kind: 'take'; readonly by: readonly number[] }
  | { readonly kind: 'release'; readonly by: number }
  | { readonly kind: 'pass'; readonly ms: number };

const by = fc.constantFrom(...HOLDERS);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('take' as const),
    by: fc.uniqueArray(by, { minLength: 1 }),
  }),
  fc.record({ kind: fc.constant('release' as const), by }),
  fc.record({
    kind: fc.constant('pass' as const),
    ms: fc.constantFrom(1, 1_000, FOR_MS - 1, FOR_MS, 60_000),
  }),
);

describeOnDatabases('leases', HOLDERS.length, (connections) => {
  test(
    'have one holder at a time, and a number that grows with each new one',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 10, maxLength: 25, size: 'max' }),
          async (steps) => {
            const world = await openWorld(connections());
            let held: { by: number; until: number } | undefined;
            let fence = 0;
            let last: number | undefined;
            for (const action of steps) {
              const now = world.databaseTime();
              if (action.kind === 'pass') await world.pass(action.ms);
              else if (action.kind === 'release') {
                await lease(world, action.by).release('work', `holder_${action.by}`);
                if (held?.by === action.by) {
                  held = undefined;
                  last = undefined;
                } else if (last === action.by) last = undefined;
              } else {
                const taken = await Promise.all(action.by.map((each) => take(world, each)));
                const winners = action.by.filter((_, index) => taken[index] !== undefined);
                const isFree = held === undefined || held.until <= now;
                const expected = isFree ? action.by : action.by.filter((each) => each === held?.by);
                expect(winners).toHaveLength(Math.min(1, expected.length));
                const [winner] = winners;
                if (winner === undefined) continue;
                expect(expected).toContain(winner);
                if (winner !== last) fence += 1;
                expect(taken[action.by.indexOf(winner)]).toEqual({ fence, until: now + FOR_MS });
                held = { by: winner, until: now + FOR_MS };
                last = winner;
              }
              const holder = await lease(world, 0).holderOf('work');
              const isHeld = held !== undefined && held.until > world.databaseTime();
              expect(holder).toBe(isHeld ? `holder_${held?.by}` : undefined);
            }
          },
        ),
        { numRuns: 20 },
      );
    },
    START_MS,
  );

  test('end to the millisecond', async () => {
    const world = await openWorld(connections());
    expect(await take(world, 0)).toMatchObject({ fence: 1 });
    await world.pass(FOR_MS - 1);
    expect(await take(world, 1)).toBeUndefined();
    await world.pass(1);
    expect(await take(world, 1)).toMatchObject({ fence: 2 });
    expect(await take(world, 0)).toBeUndefined();
  });

  test('of other names are others', async () => {
    const world = await openWorld(connections());
    expect(await lease(world, 0).take('one', 'a', FOR_MS)).toBeDefined();
    expect(await lease(world, 1).take('other', 'b', FOR_MS)).toBeDefined();
    expect(await lease(world, 1).take('one', 'b', FOR_MS)).toBeUndefined();
  });
});

function take(world: World, holder: number) {
  return lease(world, holder).take('work', `holder_${holder}`, FOR_MS);
}

function lease(world: World, index: number) {
  const node = world.nodes[index];
  if (node === undefined) throw new Error('There is no such node.');
  return node.leases;
}
