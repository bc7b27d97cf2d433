// Faults of nodes: who lives, who leads, whose holds are ended, and what is said to be known.

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
        put: '',
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
        put: 'if (seenAt > 0) after',
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
];
