// Nodes that send heartbeats, fall silent and return, in any order, with clocks that are set: which
// one is the leader, which are evicted, and what a node knows of itself.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { wordsOf } from '../../src/core/sentence.ts';
import { describeOnDatabases, START_MS } from './databases.ts';
import { openWorld, type World, type WorldNode } from './world.ts';

const COUNT = 3;
const HOUR_MS = 3_600_000;

type Step =
  | { readonly kind: 'seconds'; readonly count: number; readonly awake: readonly number[] }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'jump'; readonly node: number; readonly ms: number };

const node = fc.integer({ min: 0, max: COUNT - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('seconds' as const),
      count: fc.integer({ min: 1, max: 13 }),
      awake: fc.subarray([0, 1, 2]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      ms: fc.constantFrom(4_000, 9_000, 30_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('jump' as const),
      node,
      ms: fc.constantFrom(-24 * HOUR_MS, -HOUR_MS, HOUR_MS, 24 * HOUR_MS),
    }),
  },
);

describeOnDatabases('nodes', COUNT, (connections) => {
  test(
    'have one leader at most, and none that serves is dead to the others',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
          const world = await openWorld(connections());
          for (const action of steps) {
            if (action.kind === 'pause') await world.pass(action.ms);
            else if (action.kind === 'jump') world.nodes[action.node]?.jump(action.ms);
            else {
              for (let left = action.count; left > 0; left -= 1) {
                await world.pass(1_000);
                await Promise.all(action.awake.map((index) => beatAndEvict(at(world, index))));
                const leaders = world.nodes.filter(({ member }) => member.isLeader());
                expect(leaders.length).toBeLessThanOrEqual(1);
              }
            }
            const rows = await at(world, 0).nodes.list();
            for (const { member } of world.nodes) {
              if (member.isFenced()) continue;
              expect(rows.find((row) => row.boot === member.incarnation())?.deadAt).toBeNull();
            }
          }
        }),
        { numRuns: 12 },
      );
    },
    START_MS,
  );

  test('hear of each other, and one leads', async () => {
    const world = await openWorld(connections());
    await seconds(world, 2, [0, 1, 2]);
    expect(world.nodes.map(({ member }) => member.liveNodes())).toEqual([3, 3, 3]);
    expect(world.nodes.map(({ member }) => member.isLeader())).toEqual([true, false, false]);
    expect(at(world, 0).member.fence()).toBe(1);
    expect(await at(world, 0).leases.holderOf('leader')).toBe('node_0_boot_1');
  });

  test('move the lead within 15 s when the leader dies, and evict it once', async () => {
    const world = await openWorld(connections());
    await seconds(world, 2, [0, 1, 2]);
    const evicted: string[] = [];
    let movedAfter = 0;
    for (let second = 1; second <= 15; second += 1) {
      await world.pass(1_000);
      for (const index of [1, 2]) evicted.push(...(await beatAndEvict(at(world, index))));
      const isMoved = at(world, 1).member.isLeader() || at(world, 2).member.isLeader();
      if (isMoved && movedAfter === 0) movedAfter = second;
    }
    expect(at(world, 0).member.isLeader()).toBe(false);
    expect(movedAfter).toBeGreaterThan(0);
    expect(movedAfter).toBeLessThan(15);
    expect(evicted).toEqual(['node_0_boot_1']);
    expect(at(world, 1).member.liveNodes()).toBe(2);
  });

  test('move the lead at once when the leader ends', async () => {
    const world = await openWorld(connections());
    await seconds(world, 2, [0, 1]);
    await at(world, 0).member.resign();
    await seconds(world, 1, [0, 1]);
    expect(world.nodes.map(({ member }) => member.isLeader())).toEqual([false, true, false]);
    expect(at(world, 1).member.fence()).toBe(2);
    await at(world, 0).member.leave();
    expect((await at(world, 1).nodes.list()).map((row) => row.node)).toEqual(['node_1']);
  });

  test('know that they were silent, and come back as another boot where they are dead', async () => {
    const world = await openWorld(connections());
    const [first, second] = [at(world, 0), at(world, 1)];
    await seconds(world, 2, [0, 1]);
    expect(first.member.problems()).toEqual([]);
    await seconds(world, 8, [1]);
    expect(first.member.isFenced()).toBe(true);
    expect(first.member.problems()).toHaveLength(1);
    await first.member.beat();
    expect({ fenced: first.member.isFenced(), boot: first.member.incarnation() }).toEqual({
      fenced: false,
      boot: 'node_0_boot_1',
    });
    await seconds(world, 12, [1]);
    const dead = (await second.nodes.list()).filter((row) => row.deadAt !== null);
    expect(dead.map((row) => row.boot)).toEqual(['node_0_boot_1']);
    await first.member.beat();
    expect({ fenced: first.member.isFenced(), boot: first.member.incarnation() }).toEqual({
      fenced: false,
      boot: 'node_0_boot_2',
    });
    expect(first.warnings.join()).toContain('node_0_boot_1');
    await seconds(world, 1, [1]);
    expect(second.member.liveNodes()).toBe(2);
  });

  test('evict no node after an absence of their own, or of all nodes', async () => {
    const world = await openWorld(connections());
    await seconds(world, 2, [0, 1, 2]);
    await world.pass(60_000);
    expect(await beatAndEvict(at(world, 1))).toEqual([]);
    expect(await beatAndEvict(at(world, 0))).toEqual([]);
    expect(at(world, 0).member.incarnation()).toBe('node_0_boot_1');
  });

  test('evict no node because a clock was set', async () => {
    const world = await openWorld(connections());
    await seconds(world, 12, [0, 1, 2]);
    for (const ms of [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS]) {
      at(world, 1).jump(ms);
      expect((await seconds(world, 1, [0, 1, 2])).flat()).toEqual([]);
      await world.jumpDatabase(ms);
      expect((await seconds(world, 3, [0, 1, 2])).flat()).toEqual([]);
      const leaders = world.nodes.filter(({ member }) => member.isLeader());
      expect(leaders).toHaveLength(1);
    }
  });

  test("go by the database's time, and say when their own is another", async () => {
    const world = await openWorld(connections());
    await seconds(world, 2, [0, 1]);
    const { clock, member, jump, warnings } = at(world, 0);
    jump(HOUR_MS);
    expect(clock.now()).toBe(world.databaseTime());
    expect(member.warnings().map(wordsOf)).toEqual([
      "the clock of this machine is 3600.0 s ahead of the database's",
    ]);
    await seconds(world, 2, [0, 1]);
    expect(warnings).toEqual([
      "cluster: the clock of this machine is 3600.0 s ahead of the database's",
    ]);
    const [row] = await at(world, 1).nodes.list();
    expect(row?.clockOffsetMs).toBe(HOUR_MS);
    expect(at(world, 1).member.warnings()).toEqual([]);
    jump(-HOUR_MS);
    expect(member.warnings()).toEqual([]);
  });

  test('have seen no more than the database says, also where its clock is set back', async () => {
    const world = await openWorld(connections());
    await seconds(world, 2, [0]);
    const { member, nodes } = at(world, 0);
    for (const ms of [0, -HOUR_MS]) {
      await world.jumpDatabase(ms);
      await member.seen(world.databaseTime(), true);
      expect((await nodes.list()).map((row) => row.seenAt)).toEqual([world.databaseTime()]);
    }
  });

  test('know from when on they are fenced, by their own clock', async () => {
    const world = await openWorld(connections());
    const { member } = at(world, 0);
    expect(member.fencedFrom()).toBe(-Infinity);
    await member.beat();
    const from = member.fencedFrom();
    await world.pass(7_999);
    expect([member.fencedFrom(), member.isFenced()]).toEqual([from, false]);
    await world.pass(1);
    expect([member.fencedFrom(), member.isFenced()]).toEqual([from, true]);
  });

  test('warn where they serve different catalogs', async () => {
    const world = await openWorld(connections());
    await seconds(world, 2, [0, 1]);
    expect(at(world, 0).member.warnings()).toEqual([]);
    at(world, 1).serveCatalog('another');
    await seconds(world, 2, [1, 0]);
    expect(at(world, 0).member.warnings().map(wordsOf)).toEqual([
      'nodes serve 2 different catalogs',
    ]);
    expect(at(world, 1).member.warnings().map(wordsOf)).toEqual([
      'nodes serve 2 different catalogs',
    ]);
  });
});

/** Answers the incarnations that were evicted. */
async function seconds(world: World, count: number, awake: readonly number[]): Promise<string[]> {
  const evicted: string[] = [];
  for (let second = 0; second < count; second += 1) {
    await world.pass(1_000);
    for (const index of awake) evicted.push(...(await beatAndEvict(at(world, index))));
  }
  return evicted;
}

async function beatAndEvict({ member, nodes }: WorldNode): Promise<string[]> {
  await member.beat();
  const evicted: string[] = [];
  if (!member.isLeader()) return evicted;
  for (const row of member.silent()) if (await nodes.evict(row)) evicted.push(row.boot);
  return evicted;
}

function at(world: World, index: number): WorldNode {
  const found = world.nodes[index];
  if (found === undefined) throw new Error(`There is no node ${index}.`);
  return found;
}
