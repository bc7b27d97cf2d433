// Faults of nodes: who lives, who leads, whose holds are ended, what is said to be known, what time it
// is, what PostgreSQL is believed, and what comes of an installation that moves to it.

import type { Fault } from '../fault.ts';

const MEMBER = ['test/cluster/member.test.ts'];
const RECOVERY = ['test/cluster/recovery.test.ts'];

export const NODE_FAULTS: readonly Fault[] = [
  {
    id: 'T-140',
    plants: 'a node that is held for dead goes on as if it were not',
    edits: [
      {
        file: 'src/cluster/member.ts',
        find: 'const MARGIN_MS = 2_000;',
        put: 'const MARGIN_MS = -3_000;',
      },
    ],
    tests: MEMBER,
  },
  {
    id: 'T-141',
    plants: 'a node that was away itself buries everybody else',
    edits: [
      {
        file: 'src/cluster/member.ts',
        find: 'if (now - listedAt > AWAY_MS) unchanged.clear();',
        put: 'if (now - listedAt > 1_000_000 * AWAY_MS) unchanged.clear();',
      },
    ],
    tests: MEMBER,
  },
  {
    id: 'T-142',
    plants: 'a lease is taken from whoever has it',
    edits: [
      {
        file: 'src/cluster/leases.ts',
        find: 'leases.until} <= $',
        put: 'leases.until} - 5000 <= $',
      },
    ],
    tests: ['test/cluster/leases.test.ts'],
  },
  {
    id: 'T-143',
    plants: 'the leader ends the holds of nodes that live',
    edits: [
      {
        file: 'src/cluster/recovery.ts',
        find: 'boots.filter((boot) => !alive.has(boot))',
        put: 'boots.filter((boot) => alive.has(boot) || !alive.has(boot))',
      },
    ],
    tests: RECOVERY,
  },
  {
    id: 'T-144',
    plants: 'a node comes back under the boot whose holds were ended',
    edits: [
      {
        file: 'src/cluster/nodes.ts',
        find: 'return and(eq(nodes.boot, boot), isNull(nodes.deadAt));',
        put: 'return isNull(nodes.deadAt) && eq(nodes.boot, boot);',
      },
    ],
    tests: MEMBER,
  },
  {
    id: 'T-145',
    plants: 'a node is said to know a change that it has not seen',
    edits: [
      {
        file: 'src/cluster/confirm.ts',
        find: 'if (seenAt > since) after',
        put: 'if (seenAt > 0 * since) after',
      },
    ],
    tests: ['test/cluster/confirm.test.ts'],
  },
  {
    id: 'T-146',
    plants: 'a key that was read before it ended is remembered after it',
    edits: [
      {
        file: 'src/identity/authenticate.ts',
        find: 'const isKept = epoch === begunIn;',
        put: 'const isKept = epoch >= begunIn;',
      },
    ],
    tests: ['test/identity/authenticate.test.ts'],
  },
  {
    id: 'T-147',
    plants: 'a node that is about to stop says that it is ready until it refuses',
    edits: [
      {
        file: 'src/server/surface.ts',
        find: '    draining: () => stage.isLeaving,',
        put: '    draining: () => stage.isLeaving && stage.isDraining,',
      },
    ],
    tests: ['test/blackbox/cluster.test.ts'],
    only: 'one that is replaced',
  },
  {
    id: 'T-148',
    plants: 'the time of a node jumps with the clock of its machine',
    edits: [
      {
        file: 'src/cluster/clock.ts',
        find: 'base === undefined ? wall() : Math.floor(monotonic() + base)',
        put: 'base === undefined || base !== 0 ? wall() : Math.floor(monotonic() + base)',
      },
    ],
    tests: ['test/cluster/clock.test.ts'],
  },
  {
    id: 'T-149',
    plants: 'the jobs of the leader go on at a node that has lost the lead',
    edits: [
      {
        file: 'src/cluster/duties.ts',
        find: '      else end();',
        put: '      else if (isClosed) end();',
      },
    ],
    tests: ['test/cluster/duties.test.ts'],
  },
  {
    id: 'T-150',
    plants: 'a reply of PostgreSQL that answers another question is believed',
    edits: [
      {
        file: 'src/store/postgres/session.ts',
        find: 'if (reply.rows[0]?.[0] !== number) throw outOfStep();',
        put: 'void reply;',
      },
    ],
    tests: ['test/store/postgres/database.test.ts'],
    only: 'a reply out of step',
  },
  {
    id: 'T-151',
    plants: 'a node tells a bill that PostgreSQL has not booked',
    edits: [
      {
        file: 'src/server/pipeline.ts',
        find: 'bookingMs: isSqliteUrl(config.databaseUrl) ? BOOKING_MS : undefined,',
        put: 'bookingMs: isSqliteUrl(config.databaseUrl) ? BOOKING_MS : BOOKING_MS,',
      },
    ],
    tests: ['test/blackbox/postgres-away.test.ts'],
  },
  {
    id: 'T-152',
    plants: 'an import is kept although its books come out otherwise',
    edits: [
      {
        file: 'src/operations/export-import.ts',
        find: '    if (wrong.length > 0) {',
        put: '    if (wrong.length > 1_000) {',
      },
    ],
    tests: ['test/operations/export-import.test.ts'],
    only: 'where the books would come out otherwise',
  },
];
