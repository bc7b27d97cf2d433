// Mutants of clusters: leased limits, membership, leases, clocks and answers that arrive late.

import type { Mutant } from '../mutant.ts';

export const CLUSTER_MUTANTS: readonly Mutant[] = [
  {
    id: 'T-120',
    does: 'a node uses a window that it leased from beyond its end',
    edits: [
      {
        in: 'rollWindows',
        find: 'if (endsAtMs !== undefined && nowMs >= endsAtMs) all.delete(name);',
        put: 'if (endsAtMs !== undefined && nowMs >= endsAtMs + WINDOW_MS) all.delete(name);',
      },
      {
        in: 'covers',
        find: 'mayBeOver(counter, nowMs)',
        put: 'mayBeOver(counter, nowMs - WINDOW_MS)',
      },
    ],
    tests: ['test/limits/leased/faults.test.ts'],
  },
  {
    id: 'T-121',
    does: 'a call to Redis that arrives late undoes a newer one',
    edits: [
      {
        in: 'src/limits/leased/decide.lua',
        find: 'if own.seq >= call.seq then',
        put: 'if false then',
      },
    ],
    tests: ['test/limits/leased/script.test.ts'],
  },
  {
    id: 'T-123',
    does: 'the slots of a node that died stay taken',
    edits: [
      {
        in: 'src/limits/leased/decide.lua',
        find: 'local isAlive = record.ends > now',
        put: 'local isAlive = true',
      },
    ],
    tests: ['test/limits/leased/faults.test.ts'],
  },
  {
    id: 'T-140',
    does: 'a node that was evicted goes on as if it were not',
    edits: [
      { in: 'MARGIN_MS', find: 'const MARGIN_MS = 2_000;', put: 'const MARGIN_MS = -3_000;' },
    ],
    tests: ['test/cluster/member.test.ts'],
  },
  {
    id: 'T-142',
    does: 'a lease is taken from its holder',
    edits: [
      {
        in: 'setWhere',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: 'sql`${leases.holder} = ${holder} or ${leases.until} <= ${now}`',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: 'sql`${leases.holder} = ${holder} or ${leases.until} - 5000 <= ${now}`',
      },
    ],
    tests: ['test/cluster/leases.test.ts'],
  },
  {
    id: 'T-143',
    does: 'the leader ends the holds of nodes that live',
    edits: [
      {
        in: 'evicted',
        find: 'incarnations.filter((each) => !alive.has(each))',
        put: 'incarnations.filter((each) => alive.has(each) || !alive.has(each))',
      },
    ],
    tests: ['test/cluster/recovery.test.ts'],
  },
  {
    id: 'T-144',
    does: 'a node comes back under the boot whose holds were ended',
    edits: [
      {
        in: 'isAlive',
        find: 'return and(eq(nodes.boot, boot), isNull(nodes.deadAt));',
        put: 'return isNull(nodes.deadAt) && eq(nodes.boot, boot);',
      },
    ],
    tests: ['test/cluster/member.test.ts'],
  },
  {
    id: 'T-148',
    does: 'the time of a node jumps with the clock of its machine',
    edits: [
      {
        in: 'now',
        find: 'base === undefined ? wall() : Math.floor(monotonic() + base)',
        put: 'base === undefined || base !== 0 ? wall() : Math.floor(monotonic() + base)',
      },
    ],
    tests: ['test/cluster/clock.test.ts'],
  },
  {
    id: 'T-150',
    does: 'a reply of PostgreSQL that answers another question is believed',
    edits: [
      {
        in: 'check',
        find: 'if (reply.rows[0]?.[0] !== number) throw outOfStep();',
        put: 'void reply;',
      },
    ],
    tests: ['test/store/postgres/database.test.ts'],
    only: 'a reply out of step',
  },
  {
    id: 'T-160',
    does: 'a node delivers content before its first checkpoint is written',
    edits: [
      {
        in: 'isFirst',
        find: 'isAwaited() === true',
        put: 'isAwaited() === undefined',
      },
    ],
    tests: ['test/generate/generate.test.ts'],
    only: 'declared dead before it was booked',
  },
];
