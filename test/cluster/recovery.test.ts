// The holds of evicted nodes: ended once, by the leader, and never while their node lives.

import { expect, test } from 'bun:test';
import { recoverEvicted } from '../../src/cluster/recovery.ts';
import { micro, usdRate } from '../../src/core/money.ts';
import { createBooks } from '../../src/ledger/books.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import {
  booksOver,
  fundAccount,
  holdOf,
  NOW,
  placed,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';
import { describeOnDatabases } from './databases.ts';
import { openWorld, type World, type WorldNode } from './world.ts';

describeOnDatabases('dead nodes', 3, (connections, dialect) => {
  /** Three nodes that live and hear of each other; account `id` has money. */
  async function open(id: string) {
    const world = await openWorld(connections());
    const nodes = world.nodes.map((node) => ({
      ...node,
      ledger: createLedger({ database: node.database }),
    }));
    const [first, second, third] = nodes;
    if (first === undefined || second === undefined || third === undefined) {
      throw new Error('There are three.');
    }
    const books = createBooks(first.database);
    await fundAccount({ ...booksOver(first.database), books }, id, 1_000n);
    await seconds(world, world.nodes, 3);
    const hold = (requestId: string, node: typeof first) =>
      placed(node.ledger, { ...holdOf(requestId, id, 100n), boot: node.member.incarnation() });
    const phaseOf = async (requestId: string) => (await books.explain(requestId))?.hold.phase;
    const look = async (node: typeof first) =>
      (
        await recoverEvicted({
          ...node,
          clock: () => NOW,
          usdPerMillion: () => usdRate(1_000_000n),
          log: { warn: () => undefined, error: () => undefined },
        })
      ).map(({ requestId }) => requestId);
    return { world, nodes: [first, second, third] as const, books, hold, phaseOf, look };
  }

  test('are declared so, and their holds are ended, once, by any node', async () => {
    const { world, nodes, books, hold, phaseOf, look } = await open(`ada-${dialect}`);
    const [dead, one, two] = nodes;
    const ids = [`dead-${dialect}`, `alive-${dialect}`] as const;
    await hold(ids[0], dead);
    await hold(ids[1], one);
    expect(await look(one)).toEqual([]);
    await seconds(world, [one, two], 12);
    const [mine, theirs] = await Promise.all([look(one), look(two)]);
    expect([...mine, ...theirs].sort()).toEqual([ids[0]]);
    expect([await phaseOf(ids[0]), await phaseOf(ids[1])]).toEqual(['released', 'held']);
    expect(await books.balance(`ada-${dialect}`)).toMatchObject({
      posted: micro(1_000n),
      held: micro(100n),
    });
    expect(await look(two)).toEqual([]);
  });

  test('that come back find their holds ended, and each has one end', async () => {
    const { world, nodes, books, hold, phaseOf, look } = await open(`bea-${dialect}`);
    const [away, one] = nodes;
    const id = `away-${dialect}`;
    await hold(id, away);
    await seconds(world, [one], 12);
    expect(await look(one)).toEqual([id]);
    expect(await away.ledger.settle(settleOf(id, 15n))).toMatchObject({
      debited: micro(0n),
      loss: micro(0n),
    });
    expect(await phaseOf(id)).toBe('released');
    expect(await books.balance(`bea-${dialect}`)).toMatchObject({
      posted: micro(1_000n),
      held: micro(0n),
    });
    const before = away.member.incarnation();
    await away.member.beat();
    expect(away.member.incarnation()).not.toBe(before);
    await hold(`new-${dialect}`, away);
    expect(await look(one)).toEqual([]);
    expect(await phaseOf(`new-${dialect}`)).toBe('held');
    await away.ledger.release(releaseOf(`new-${dialect}`));
  });

  test('that ended by themselves leave nothing, and what they left all the same is ended', async () => {
    const { nodes, hold, look } = await open(`cyd-${dialect}`);
    const [leaving, one] = nodes;
    const id = `left-${dialect}`;
    await hold(id, leaving);
    await leaving.member.leave();
    expect(await look(one)).toEqual([id]);
  });
});

async function seconds(world: World, awake: readonly WorldNode[], count: number): Promise<void> {
  for (let second = 0; second < count; second += 1) {
    await world.pass(1_000);
    for (const { member } of awake) await member.beat();
  }
}
