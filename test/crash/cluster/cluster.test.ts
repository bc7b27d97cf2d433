// A short run of the crash test over a cluster: each fault at least once, under load, after which
// every law holds. `scripts/crash --nodes 3` is the long run.

import { expect, test } from 'bun:test';
import { describeSlowWithServices } from '../../support/services.ts';
import { joinBooks } from '../books.ts';
import { explainRequest } from '../explain.ts';
import { judge } from '../laws/all.ts';
import { CLUSTER_FAULTS, type ClusterFaultName } from './faults.ts';
import { playClusterRound } from './round.ts';

const ROUNDS: readonly (readonly [number, readonly ClusterFaultName[]])[] = [
  [
    20_261_121,
    [
      'kill a node',
      'duplicate replies',
      'crash PostgreSQL',
      'cut off clients',
      'kill Redis',
      'jump a clock',
      'reset replies',
    ],
  ],
  [
    20_261_122,
    [
      'partition a node',
      'restart a node',
      'drop replies',
      'slow a node',
      'cut replies',
      'stall Redis',
    ],
  ],
];

const ROUND_TIMEOUT_MS = 120_000;

describeSlowWithServices('three nodes, one fault after the other', ['PostgreSQL', 'Redis'], () => {
  test.each(ROUNDS)(
    'with seed %d leave books in which every law holds',
    async (seed, faults) => {
      const { books, discard } = await playClusterRound({
        ...{ seed, faults },
        nodes: 3,
        seconds: 0,
        stallSeconds: 3,
      });
      await discard();
      const told = judge(books).map((broken) => [broken, explainRequest(books, broken.subject)]);
      expect(told).toEqual([]);
      expect(books.played).toEqual([...faults]);
      expect(joinBooks(books).filter(({ record }) => record?.outcome === 'completed')).not.toEqual(
        [],
      );
    },
    ROUND_TIMEOUT_MS,
  );

  test('none of the faults is left out', () => {
    expect(ROUNDS.flatMap(([, faults]) => faults).sort()).toEqual([...CLUSTER_FAULTS].sort());
  });
});
