// Faults of what happens when a process dies, or takes over from one that has.

import type { Fault } from '../fault.ts';

const CONTRACT = ['test/ledger/contract/contract.test.ts'];

export const RECOVERY: readonly Fault[] = [
  {
    id: 'S-22',
    plants: 'a recovery charges the whole hold',
    edits: [
      {
        file: 'src/ledger/recover.ts',
        find: 'return endHold(settle, charge, expired',
        put: 'return endHold(settle, charge > hold.amount ? charge : hold.amount, expired',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'S-23',
    plants: 'a recovery releases what had been dispatched',
    edits: [
      {
        file: 'src/ledger/recover.ts',
        find: "hold.phase === 'held' ? undefined",
        put: "hold.phase !== 'settled' ? undefined",
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-32',
    plants: 'a recovery forgets the prompt',
    edits: [
      {
        file: 'src/ledger/recover.ts',
        find: 'inputTokens: hold.promptTokens,',
        put: 'inputTokens: hold.promptTokens * 0,',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-33',
    plants: 'a recovery takes from the available balance',
    edits: [
      {
        file: 'src/ledger/recover.ts',
        find: 'withinHold: true',
        put: 'withinHold: false',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-34',
    plants: 'a start leaves the holds of a dead process open',
    edits: [
      {
        file: 'src/server/store.ts',
        find: '    if (isAlone) {\n      const recovered',
        put: '    if (!isAlone) {\n      const recovered',
      },
    ],
    tests: ['test/blackbox/lifecycle.test.ts'],
    only: 'a kill',
  },
  {
    id: 'T-35',
    plants: 'two servers may have one database',
    edits: [
      {
        file: 'src/store/owner.ts',
        find: "connection.run('BEGIN EXCLUSIVE');",
        put: "connection.run('BEGIN');",
      },
    ],
    tests: ['test/store/owner.test.ts'],
  },
  {
    id: 'T-36',
    plants: 'a server does not take its database for itself',
    edits: [
      {
        file: 'src/server/store.ts',
        find: 'release = isAlone ? ownDatabase(url) : release;',
        put: 'release = isAlone ? ownDatabase.bind(undefined, url) : release;',
      },
    ],
    tests: ['test/blackbox/lifecycle.test.ts'],
    only: 'a database has one server',
  },
  {
    id: 'T-37',
    plants: 'the ledger is never told that an upstream is asked',
    edits: [
      {
        file: 'src/generate/dispatch.ts',
        find: 'const booked = ledger.dispatch({ requestId, served, nowMs: clock(), isAwaited });',
        put: 'const booked = Promise.resolve(void served);',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-38a',
    plants: 'checkpoints are never sent',
    edits: [
      {
        file: 'src/generate/dispatch.ts',
        find: 'unwatched(ledger.checkpoint({ requestId, ...progress, nowMs: clock() })),',
        put: 'void progress,',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-38b',
    plants: 'checkpoints come after thousands of tokens',
    edits: [
      {
        file: 'src/generate/metered-attempt.ts',
        find: 'const CHECKPOINT_TOKENS = 192;',
        put: 'const CHECKPOINT_TOKENS = 4_096;',
      },
    ],
    tests: ['test/generate/metered-attempt.test.ts'],
  },
  {
    id: 'T-39',
    plants: 'a recovery ends what has an end waiting for the disk',
    edits: [
      {
        file: 'src/ledger/queue.ts',
        find: 'live: [...command.live, ...ends] },',
        put: 'live: [...command.live, ...ends.slice(ends.length)] },',
      },
    ],
    tests: ['test/ledger/queue.test.ts', 'test/ledger/thread.test.ts'],
  },
  {
    id: 'T-40',
    plants: 'the sweep for lost holds ends requests that are under way',
    edits: [
      {
        file: 'src/server/store.ts',
        find: 'live: await live(),',
        put: 'live: (await live()).slice(0, 0),',
      },
    ],
    tests: ['test/server/store.test.ts'],
  },
  {
    id: 'T-41a',
    plants: 'a hold that the ledger did not confirm is left open',
    edits: [
      {
        file: 'src/generate/grant.ts',
        find: 'if (error instanceof LedgerSilent) releaseUnconfirmed(dependencies, checked);',
        put: 'void [error instanceof LedgerSilent, releaseUnconfirmed];',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
  },
  {
    id: 'T-41b',
    plants: 'a thread of the ledger that has died stays dead',
    edits: [
      {
        file: 'src/ledger/remote.ts',
        find: 'restartTimer = setTimeout(start, restartMs);',
        put: 'restartTimer = setTimeout(() => undefined, restartMs);',
      },
    ],
    tests: ['test/ledger/thread.test.ts'],
  },
];
