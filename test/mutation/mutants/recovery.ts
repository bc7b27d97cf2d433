// Mutants of what outlives a crash: checkpoints and recovery.

import type { Mutant } from '../mutant.ts';

export const RECOVERY_MUTANTS: readonly Mutant[] = [
  {
    id: 'S-22',
    does: 'a recovery charges the whole hold',
    edits: [
      {
        in: 'recoverHold',
        find: 'return endHold(batch, hold, settle, charge, expired',
        put: 'return endHold(batch, hold, settle, charge > row.amount ? charge : row.amount, expired',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'S-23',
    does: 'a recovery releases what had been delivered',
    edits: [
      {
        in: 'recoverHold',
        find: 'if (modelServed === null || upstream === null',
        put: 'if (modelServed !== 0 || upstream === null',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'T-35',
    does: 'two servers may have one database',
    edits: [
      {
        in: 'lock',
        find: "connection.run('BEGIN EXCLUSIVE');",
        put: "connection.run('BEGIN');",
      },
    ],
    tests: ['test/store/owner.test.ts'],
  },
  {
    id: 'T-37',
    does: 'an unpaid whole answer is delivered',
    edits: [
      {
        in: 'isForfeited',
        find: 'return charge > ZERO && debited',
        put: 'return charge < ZERO && debited',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-38a',
    does: 'checkpoints are never sent',
    edits: [
      {
        in: 'checkpoint',
        find: 'ledger.checkpoint({ requestId, served, ...progress, nowMs: clock(), isAwaited })',
        put: 'Promise.resolve(void [ledger, requestId, served, progress, clock, isAwaited])',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-39',
    does: 'a recovery ends what has an end waiting for the disk',
    edits: [
      {
        in: 'live',
        find: '[...command.live, ...ends]',
        put: '[...command.live, ...ends.slice(ends.length)]',
      },
    ],
    tests: ['test/ledger/queue.test.ts', 'test/ledger/thread.test.ts'],
  },
  {
    id: 'T-41a',
    does: 'a hold that the ledger did not confirm is left open',
    edits: [
      {
        in: 'tryGrant',
        find: 'if (error instanceof LedgerSilent) releaseUnconfirmed(dependencies, checked);',
        put: 'void [error instanceof LedgerSilent, releaseUnconfirmed];',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
];
