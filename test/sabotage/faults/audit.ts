// Faults of the audit: what it does not see, and whom it stops.

import type { Fault } from '../fault.ts';

const AUDIT = ['test/ledger/audit.test.ts'];

export const AUDITS: readonly Fault[] = [
  {
    id: 'T-60a',
    plants: 'one account with a difference stops everybody',
    edits: [
      {
        file: 'src/server/self-audit.ts',
        find: 'isStopped: (accountId) => found.has(accountId),',
        put: "isStopped: (accountId) => found.size > 0 && accountId !== '',",
      },
    ],
    tests: ['test/blackbox/audit.test.ts'],
  },
  {
    id: 'T-60b',
    plants: 'an account with a difference is served on',
    edits: [
      {
        file: 'src/server/self-audit.ts',
        find: 'isStopped: (accountId) => found.has(accountId),',
        put: "isStopped: (accountId) => found.has(accountId) && accountId === '',",
      },
    ],
    tests: ['test/blackbox/audit.test.ts'],
  },
  {
    id: 'T-60c',
    plants: 'an account whose books are right again stays stopped',
    edits: [
      {
        file: 'src/server/self-audit.ts',
        find: 'if (differences === undefined) found.delete(accountId);',
        put: 'if (differences === undefined) found.get(accountId);',
      },
    ],
    tests: ['test/server/self-audit.test.ts'],
  },
  {
    id: 'T-60d',
    plants: 'an account is stopped for what one look saw of a request that came or went meanwhile',
    edits: [
      {
        file: 'src/server/self-audit.ts',
        find: 'return !FLEETING.has(difference.kind) || suspected.has(nameOf(difference));',
        put: 'return !FLEETING.has(difference.kind) || nameOf(difference).length > 0;',
      },
    ],
    tests: ['test/server/self-audit.test.ts'],
  },
  {
    id: 'T-61a',
    plants: 'the audit does not compare balances with their entries',
    edits: [
      {
        file: 'src/ledger/audit/accounts.ts',
        find: 'if (posted !== sum) {',
        put: 'if (posted !== sum && posted < 0n) {',
      },
    ],
    tests: AUDIT,
  },
  {
    id: 'T-61b',
    plants: 'the audit does not compare what is held with the open holds',
    edits: [
      {
        file: 'src/ledger/audit/accounts.ts',
        find: 'if (held !== open) {',
        put: 'if (held !== open && held < 0n) {',
      },
    ],
    tests: AUDIT,
  },
  {
    id: 'T-61c',
    plants: 'the audit does not add up the legs of a transfer',
    edits: [
      {
        file: 'src/ledger/audit/entries.ts',
        find: 'if (row.total !== 0n && !unbalanced.has(transferId)) {',
        put: 'if (row.total !== 0n && unbalanced.has(transferId)) {',
      },
    ],
    tests: AUDIT,
  },
  {
    id: 'T-61d',
    plants: 'the audit looks at the first two thousand rows alone',
    edits: [
      {
        file: 'src/ledger/audit/pages.ts',
        find: 'after < last; after += WINDOW_ROWS',
        put: 'after < last && after < WINDOW_ROWS; after += WINDOW_ROWS',
      },
    ],
    tests: AUDIT,
  },
  {
    id: 'T-61e',
    plants: 'the audit does not follow the chains of receipts',
    edits: [
      {
        file: 'src/core/receipt-chain.ts',
        find: 'if (receipt.previous === totals.head) {',
        put: "if (receipt.previous !== '') {",
      },
    ],
    tests: ['test/core/receipt.test.ts'],
  },
  {
    id: 'T-61f',
    plants: 'the audit does not miss the request of an open hold',
    edits: [
      {
        file: 'src/ledger/audit/requests.ts',
        find: '!requests.has(requestId);',
        put: '!requests.has(requestId) && requests.size < 0;',
      },
    ],
    tests: AUDIT,
  },
];
