// Mutants of the ledger: movements, balances, receipts, credits, the transactions around them and
// the audit.

import type { Mutant } from '../mutant.ts';

export const BOOK_MUTANTS: readonly Mutant[] = [
  {
    id: 'S-01b',
    does: 'a hold is reserved without the condition that the balance covers it',
    edits: [
      {
        in: 'refusalOf',
        find: 'if (available < more) return { ok: false, available };',
        put: 'if (available < ZERO) return { ok: false, available };',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'S-01k',
    does: 'what other requests reserve of a budget is forgotten',
    edits: [
      {
        in: 'roomFor',
        find: 'reserved = add(reserved, hold.row.budgeted ?? hold.row.worst);',
        put: 'reserved = add(reserved, ZERO);',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'S-01l',
    does: 'a rotated key has a budget of its own',
    edits: [
      { in: 'familyNumber', find: 'family ?? keyId', put: 'family === undefined ? keyId : keyId' },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'S-01m',
    does: 'a first budget forgets what its key has spent',
    edits: [
      {
        in: 'setBudget',
        find: 'facts.spentBefore.get(command.family)',
        put: 'facts.spentBefore.get(command.keyId.slice(1))',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'S-02a',
    does: 'a movement may be booked twice, as far as the tables care',
    edits: [
      {
        in: 'drizzle/sqlite/0000_initial.sql',
        find: 'CREATE UNIQUE INDEX `movements_transfer`',
        put: 'CREATE INDEX `movements_transfer`',
      },
    ],
    tests: ['test/ledger/books.test.ts'],
  },
  {
    id: 'S-02b',
    does: 'a hold that has ended can be ended again',
    edits: [
      {
        in: 'endHold',
        find: 'memory.removeHold(hold);',
        put: 'void memory.removeHold;',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'S-04',
    does: 'the row of a request is written after the transaction that moves the balance',
    edits: [
      {
        in: 'writeRows',
        find: 'statements.insertRequest(row);',
        put: 'setImmediate(() => void statements.insertRequest(row));',
      },
    ],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    id: 'S-17',
    does: 'a read during the transaction of another sees what is not committed',
    edits: [
      {
        in: 'whenFree',
        find: 'if (isWithin() || isFree(access)) return ask();',
        put: "if (isWithin() || isFree(access) || access === 'read') return ask();",
      },
    ],
    tests: ['test/store/transactions.test.ts'],
  },
  {
    id: 'S-24',
    does: 'a request that has ended is held again, in a batch with others',
    edits: [
      {
        in: 'drizzle/sqlite/0004_rollback_triggers.sql',
        find: '\n  OR EXISTS (SELECT 1 FROM requests WHERE id = NEW.id)',
        put: '',
      },
    ],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    id: 'T-01',
    does: 'a settle that is given again is charged again',
    edits: [
      {
        in: 'end',
        find: 'const { account, debited, loss } = ended;',
        put: 'const { account, debited, loss } = ended; account.posted = subtract(account.posted, smaller(debited, account.available)); batch.changes.accounts.add(account);',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'T-02',
    does: 'the legs of a movement do not sum to zero',
    edits: [
      {
        in: 'drizzle/sqlite/0000_initial.sql',
        find: "ELSE 'operator:promotion' END, -m.amount,",
        put: "ELSE 'operator:promotion' END, m.amount,",
      },
    ],
    tests: ['test/ledger/books.test.ts'],
  },
  {
    id: 'T-03',
    does: 'what the account could not pay is not booked as a loss',
    edits: [
      {
        in: 'endHold',
        find: 'const loss = subtract(charge, debited);',
        put: 'const loss = subtract(debited, debited);',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'T-04',
    does: 'a charge above the hold is taken without regard to the balance',
    edits: [
      {
        in: 'payable',
        find: 'smaller(charge, add(account.available, row.amount))',
        put: 'smaller(charge, add(charge, add(account.available, row.amount)))',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'T-05',
    does: 'an ending that stays within its hold takes from the available balance',
    edits: [
      {
        in: 'payable',
        find: 'if (withinHold === true) return row.amount;',
        put: 'if (withinHold && charge < row.amount) return row.amount;',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'T-186',
    does: 'a charge above its reservation exceeds the budget of its key',
    edits: [
      {
        in: 'payable',
        find: 'return smaller(covered, budgetPays(hold, nowMs) ?? covered);',
        put: 'return smaller(covered, nowMs > 0 ? covered : (budgetPays(hold, nowMs) ?? covered));',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
    only: 'above its reservation',
  },
  {
    id: 'T-06',
    does: 'a receipt does not name the one before it',
    edits: [
      {
        in: 'receiptOf',
        find: 'previous: hashText(head)',
        put: 'previous: hashText(head && null)',
      },
    ],
    tests: ['test/ledger/receipts.test.ts'],
  },
  {
    id: 'T-07b',
    does: 'what is known of accounts stays remembered when its transaction was undone',
    edits: [
      {
        in: 'forget',
        find: 'this.accounts.clear();',
        put: '',
      },
    ],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    id: 'T-08a',
    does: 'a credit is booked without a look whether its id was booked before',
    edits: [
      {
        in: 'credit',
        find: 'if (booked !== undefined) {',
        put: 'if (booked !== undefined && booked.amount === ZERO) {',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'T-09c',
    does: 'a code is redeemed after its time',
    edits: [
      { in: 'redeem', find: 'code.expiresAt <= nowMs)', put: 'code.expiresAt + 1_000 <= nowMs)' },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'T-12',
    does: 'a command that is refused leaves in its batch what it had changed',
    edits: [
      {
        in: 'move',
        find: 'if (posted > AMOUNT_MAX) {',
        put: 'account.posted = posted; if (posted > AMOUNT_MAX) {',
      },
    ],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    id: 'T-13',
    does: 'commits do not wait for the disk',
    edits: [
      {
        in: 'useSync',
        find: "sync === 'full' ? 'FULL' : 'NORMAL'",
        put: "sync === 'full' ? 'OFF' : 'NORMAL'",
      },
    ],
    tests: ['test/store/database.test.ts'],
  },
  {
    id: 'T-18',
    does: 'the answers of a batch reach the wrong commands',
    edits: [
      {
        in: 'batch',
        find: 'const batch = posted.splice(0, answers.length);',
        put: 'const batch = posted.splice(0, answers.length).toReversed();',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'T-61a',
    does: 'the audit does not compare balances with their entries',
    edits: [
      {
        in: 'balanceDifferences',
        find: 'if (posted !== sum) {',
        put: 'if (posted !== sum && sum < ZERO) {',
      },
    ],
    tests: ['test/ledger/audit.test.ts'],
  },
  {
    id: 'T-61b',
    does: 'the audit does not compare a row with the hash of its receipt',
    edits: [
      {
        in: 'isAsHashed',
        find: "hash('sha256', text, 'hex') === own",
        put: "text !== own || hash('sha256', text, 'hex') === own",
      },
    ],
    tests: ['test/ledger/audit.test.ts'],
  },
  {
    id: 'T-61c',
    does: 'an audit forgets the differences of the one before it',
    edits: [
      {
        in: 'passOf',
        find: 'pass.wrong.includes(accountId)',
        put: 'pass.wrong.includes(accountId) && pass.turns === 0',
      },
    ],
    tests: ['test/ledger/audit-pass.test.ts'],
  },
  {
    id: 'T-61d',
    does: 'the shares of the old rows that audits read leave rows out',
    edits: [
      {
        in: 'rangesOf',
        find: '{ after: bound(turn), to: bound(turn + 1) }',
        put: '{ after: bound(turn) + 1, to: bound(turn + 1) }',
      },
    ],
    tests: ['test/ledger/audit-pass.test.ts'],
  },
];
