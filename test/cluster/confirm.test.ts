// What a command learns about the nodes that have applied its change.

import { expect, test } from 'bun:test';
import { confirmSeen } from '../../src/cluster/confirm.ts';
import { createNodes, type NodeReport } from '../../src/cluster/nodes.ts';
import { readDatabaseTime } from '../../src/store/database-time.ts';
import { describeOnDatabases } from './databases.ts';

const REPORT: NodeReport = {
  ...{ addresses: [], state: 'serving', redis: 'off', limits: 'own', catalogVersion: 1 },
  ...{ catalogDigest: 'catalog', inFlight: 0, clockOffsetMs: 0, seenAt: 0 },
};

describeOnDatabases('confirmations', 2, (connections) => {
  async function open(...names: readonly string[]) {
    const [database, command] = connections();
    if (database === undefined || command === undefined) throw new Error('Two are needed.');
    const nodes = createNodes(database);
    await nodes.removeAll();
    for (const name of names) {
      const identity = { node: name, host: 'machine', pid: 1, version: '1.0.0' };
      await nodes.register(`boot_${name}`, identity, REPORT);
    }
    const see = async (name: string) =>
      nodes.seen(`boot_${name}`, (await readDatabaseTime(database)) + 1);
    const ask = (options: { timeoutMs?: number; announce?: () => Promise<void> } = {}) =>
      confirmSeen(command, { monotonic: () => performance.now(), ...options });
    return { nodes, see, ask };
  }

  test('are none where no node serves', async () => {
    const { ask } = await open();
    expect(await ask()).toEqual([]);
  });

  test('come from each node that has seen what was before the question', async () => {
    const { see, ask } = await open('a', 'b');
    const announce = async (): Promise<void> => {
      setTimeout(() => void see('a'), 30);
      setTimeout(() => void see('b'), 60);
    };
    const confirmed = await ask({ announce });
    expect(confirmed.map(({ node, host }) => [node, host])).toEqual([
      ['a', 'machine'],
      ['b', 'machine'],
    ]);
    for (const { afterMs } of confirmed) expect(afterMs).toBeGreaterThanOrEqual(0);
  });

  test('are missing from a node that has seen less', async () => {
    const { see, ask } = await open('a', 'b');
    await see('b');
    await Bun.sleep(5);
    const confirmed = await ask({ timeoutMs: 150, announce: () => see('a') });
    expect(confirmed.map(({ node, afterMs }) => [node, afterMs === null])).toEqual([
      ['a', false],
      ['b', true],
    ]);
  });

  test('are not waited for from a node that is dead, or ends during the wait', async () => {
    const { nodes, see, ask } = await open('a', 'b', 'c');
    const confirmed = await ask({
      async announce() {
        const [, second] = await nodes.list();
        if (second === undefined || second.node !== 'b') throw new Error('b is the second.');
        setTimeout(async () => {
          await nodes.evict(second);
          await nodes.remove('boot_c');
          await see('a');
        }, 30);
      },
    });
    expect(confirmed.map(({ node }) => node)).toEqual(['a']);
  });
});
