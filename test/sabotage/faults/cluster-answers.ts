// Faults of what a cluster believes and tells: answers of Redis, first words of an answer, the catalog of
// another node, a thread that says nothing.

import type { Fault } from '../fault.ts';

export const CLUSTER_ANSWER_FAULTS: readonly Fault[] = [
  {
    id: 'T-160',
    plants: 'a node passes words on before it is booked that the upstream was asked',
    edits: [
      { file: 'src/generate/dispatch.ts', find: '...(isAwaited ? { booked } : {}),', put: '' },
    ],
    tests: ['test/generate/generate.test.ts'],
    only: 'held for dead before it was booked',
  },
  {
    id: 'T-161',
    plants: 'a connection to Redis is kept although it answers what was not asked',
    edits: [
      {
        file: 'src/store/redis/client.ts',
        find: 'requireStep(isAnswer(reply));',
        put: 'requireStep(isAnswer(reply) || true);',
      },
    ],
    tests: ['test/store/redis/client.test.ts'],
    only: 'no answer is taken for another one',
  },
  {
    id: 'T-162',
    plants: 'what an answer of Redis gave is kept for good where the answer was lost',
    edits: [
      {
        file: 'src/limits/leased/accounts.ts',
        find: 'account.counters.changes += 1;\n      active.add(account);\n      return undefined;',
        put: 'return undefined;',
      },
    ],
    tests: ['test/limits/leased/faults.test.ts'],
    only: 'gives back what an answer gave it that was lost',
  },
  {
    id: 'T-163',
    plants: 'a node that comes back with the catalog of last week sells it everywhere',
    edits: [
      {
        file: 'src/server/shared-catalog.ts',
        find: '(isAnybodyElse() && (await wasPublished(database, digest)))',
        put: '(isAnybodyElse() && !(await wasPublished(database, digest)))',
      },
    ],
    tests: ['test/server/shared-catalog.test.ts'],
  },
  {
    id: 'T-164',
    plants: 'prices are published out of a file that the nodes do not sell by',
    edits: [
      {
        file: 'src/operations/publish-prices.ts',
        find: 'if (shared !== undefined && shared.digest !== prepared.basedOn) throw isNotShared();',
        put: 'if (shared?.digest === "") throw isNotShared();',
      },
    ],
    tests: ['test/server/shared-catalog.test.ts'],
  },
  {
    id: 'T-165',
    plants: 'a server thread that hangs is left alone',
    edits: [
      {
        file: 'src/server/threads/server-threads.ts',
        find: 'if (thread.silentMs() < hangingMs) continue;',
        put: 'continue;',
      },
    ],
    tests: ['test/server/threads/server-threads.test.ts'],
  },
];
