// Mutants of the ledger: entries, balances, receipts, credits, the transactions around them and the audit.

import type { Mutant } from '../mutant.ts';

export const BOOK_MUTANTS: readonly Mutant[] = [
  {
    id: 'S-01b',
    does: 'a hold is reserved without the condition that the balance covers it',
    edits: [
      {
        in: 'prepareBalanceStatements',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: ".where(and(ofAccount, sql`${available} >= ${value('amount')}`))",
        put: '.where(ofAccount)',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'S-02a',
    does: 'the entries of one transfer may be booked twice, as far as the tables care',
    edits: [
      {
        in: 'drizzle/sqlite/0000_initial.sql',
        find: 'CREATE UNIQUE INDEX `ledger_entries_transfer`',
        put: 'CREATE INDEX `ledger_entries_transfer`',
      },
    ],
    tests: ['test/ledger/books.test.ts'],
  },
  {
    id: 'S-02b',
    does: 'a hold that has ended can be ended again',
    edits: [
      {
        in: 'end',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: ".set({ phase: sql`${value('phase')}`, endedAt: sql`${value('endedAt')}` }) .where(and(isOpen, eq(holds.amount, value('amount'))))",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: ".set({ phase: sql`${value('phase')}`, endedAt: sql`${value('endedAt')}` }) .where(eq(holds.requestId, value('requestId')))",
      },
      {
        in: 'prepareHoldStatements',
        find: 'db.select(OPEN_HOLD).from(holds).where(isOpen)',
        put: "db.select(OPEN_HOLD).from(holds).where(eq(holds.requestId, value('requestId')))",
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'S-04',
    does: 'the entries of a settle are written after the transaction that moves the balance',
    edits: [
      {
        in: 'endHold',
        find: 'book(requestId, ended.accountId, amounts, nowMs)',
        put: 'void setImmediate(() => void book(requestId, ended.accountId, amounts, nowMs))',
      },
    ],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    id: 'S-17',
    does: 'whoever reads while the transaction of another is open sees what is not committed',
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
    id: 'T-01',
    does: 'a settle that is given again is charged again',
    edits: [
      {
        in: 'firstResult',
        find: 'return { debited, loss, available: (await statements.balance(accountId)).available };',
        put: `const { available } = await statements.balance(accountId);
    await statements.spend(accountId, 0n, debited < available ? debited : 0n);
    return { debited, loss, available };`,
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'T-02',
    does: 'a transfer has one leg',
    edits: [
      {
        in: 'insertTransfer',
        find: ", { ...leg, ledgerAccount: value('counterAccount'), amount: value('opposite') }",
        put: '',
      },
    ],
    tests: ['test/ledger/codes.test.ts', 'test/ledger/books.test.ts'],
  },
  {
    id: 'T-03',
    does: 'what the account could not pay is not booked as a loss',
    edits: [
      { in: 'book', find: 'if (loss === 0n) return taken;', put: 'if (loss >= 0n) return taken;' },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'T-04',
    does: 'a charge above the hold is taken whatever is available',
    edits: [
      {
        in: 'payable',
        find: 'smaller(charge, add(available, ended.amount))',
        put: 'smaller(charge, add(charge, add(available, ended.amount)))',
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
        find: 'if (withinHold) return ended.amount;',
        put: 'if (withinHold && charge < ended.amount) return ended.amount;',
      },
    ],
    tests: ['test/ledger/contract/contract.test.ts'],
  },
  {
    id: 'T-06',
    does: 'receipts are written after the transaction',
    edits: [
      {
        in: 'appendTo',
        find: 'return andThen(statements.insertReceipt(row), () => {',
        put: `setImmediate(() => void statements.insertReceipt(row));
    return andThen(undefined, () => {`,
      },
    ],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    id: 'T-07b',
    does: 'the head of a receipt chain stays remembered when its transaction was undone',
    edits: [{ in: 'forget', find: 'forget: () => heads.clear()', put: 'forget: () => undefined' }],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    id: 'T-08a',
    does: 'a credit is booked without a look whether its id was booked before',
    edits: [
      { in: 'credit', find: 'if (booked.length > 0) {', put: 'if (booked.length > 1_000) {' },
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
    does: 'a command that is refused leaves in its batch what it had written',
    edits: [
      {
        in: 'applyAlone',
        find: 'return await database.savepoint(() => apply(request));',
        put: 'return await apply(request);',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
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
        put: 'if (posted !== sum && posted < 0n) {',
      },
    ],
    tests: ['test/ledger/audit.test.ts'],
  },
];
