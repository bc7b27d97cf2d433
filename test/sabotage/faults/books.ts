// Faults of the ledger: entries, balances, receipts, credits and the transactions around them.

import type { Fault } from '../fault.ts';

const CONTRACT = ['test/ledger/contract/contract.test.ts'];

export const BOOKS: readonly Fault[] = [
  {
    id: 'S-01a',
    plants: 'a hold is checked against a balance that is remembered',
    edits: [
      {
        file: 'src/ledger/commands.ts',
        find: '  const prices = createPrices(statements);',
        put: `  const prices = createPrices(statements);
  const remembered = new Map<string, Micro>();`,
      },
      {
        file: 'src/ledger/commands.ts',
        find: '    const left = await statements.reserve(accountId, more);',
        put: `    const known =
      remembered.get(accountId) ?? (await statements.balance(accountId)).available;
    const left = known < more ? undefined : await statements.reserve(accountId, more);
    remembered.set(accountId, left?.available ?? known);`,
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'S-01b',
    plants: 'a hold is reserved without the condition that the balance covers it',
    edits: [
      {
        file: 'src/ledger/balance-statements.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: ".where(and(ofAccount, sql`${available} >= ${value('amount')}`))",
        put: '.where(ofAccount)',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'S-02a',
    plants: 'the entries of one transfer may be booked twice, as far as the tables care',
    edits: [
      {
        file: 'drizzle/sqlite/0000_initial.sql',
        find: 'CREATE UNIQUE INDEX `ledger_entries_transfer`',
        put: 'CREATE INDEX `ledger_entries_transfer`',
      },
    ],
    tests: ['test/ledger/books.test.ts'],
  },
  {
    id: 'S-02b',
    plants: 'a hold that has ended can be ended again',
    edits: [
      {
        file: 'src/ledger/hold-statements.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: "      .set({ phase: sql`${value('phase')}`, endedAt: sql`${value('endedAt')}` })\n      .where(and(isOpen, eq(holds.amount, value('amount'))))",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: "      .set({ phase: sql`${value('phase')}`, endedAt: sql`${value('endedAt')}` })\n      .where(eq(holds.requestId, value('requestId')))",
      },
      {
        file: 'src/ledger/hold-statements.ts',
        find: 'db.select(OPEN_HOLD).from(holds).where(isOpen),',
        put: "db.select(OPEN_HOLD).from(holds).where(eq(holds.requestId, value('requestId'))),",
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'S-03',
    plants: 'what was taken from the queue is forgotten when nobody answers',
    edits: [
      {
        file: 'src/ledger/queue.ts',
        find: 'for (const entry of posted.splice(0)) fail(entry, error);',
        put: 'for (const entry of posted.splice(0)) entry.reject(error);',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'S-04',
    plants: 'the entries of a settle are written after the transaction that moves the balance',
    edits: [
      {
        file: 'src/ledger/end-hold.ts',
        find: '      book(requestId, ended.accountId, amounts, nowMs),',
        put: '      void setImmediate(() => void book(requestId, ended.accountId, amounts, nowMs)),',
      },
    ],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    id: 'S-17',
    plants: 'whoever reads while the transaction of another is open sees what is not committed',
    edits: [
      {
        file: 'src/store/transactions.ts',
        find: 'if (isWithin() || isFree(access)) return ask();',
        put: "if (isWithin() || isFree(access) || access === 'read') return ask();",
      },
    ],
    tests: ['test/store/transactions.test.ts'],
  },
  {
    id: 'S-17b',
    plants: 'what is left over of work that was undone is written on its own',
    edits: [
      {
        file: 'src/store/transactions.ts',
        find: '    transaction.undone = true;\n',
        put: '',
      },
    ],
    tests: ['test/store/transactions.test.ts'],
  },
  {
    id: 'S-17c',
    plants: 'whoever waited for a transaction asks a moment later, when the next may have begun',
    edits: [
      {
        file: 'src/store/transactions.ts',
        find: 'return turns.wait(() => isFree(access), ask, patienceMs);',
        put: 'return (async () => (await turns.wait(() => isFree(access), () => undefined, patienceMs), ask()))();',
      },
    ],
    tests: ['test/store/transactions.test.ts'],
  },
  {
    id: 'T-01',
    plants: 'a settle that is given again is charged again',
    edits: [
      {
        file: 'src/ledger/end-hold.ts',
        find: '    return { debited, loss, available: (await statements.balance(accountId)).available };',
        put: `    const { available } = await statements.balance(accountId);
    await statements.spend(accountId, 0n, debited < available ? debited : 0n);
    return { debited, loss, available };`,
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'T-02',
    plants: 'a transfer has one leg',
    edits: [
      {
        file: 'src/ledger/statements.ts',
        find: "      { ...leg, ledgerAccount: value('counterAccount'), amount: value('opposite') },\n",
        put: '',
      },
    ],
    tests: ['test/ledger/codes.test.ts', 'test/ledger/books.test.ts'],
  },
  {
    id: 'T-03',
    plants: 'what the account could not pay is not booked as a loss',
    edits: [
      {
        file: 'src/ledger/end-hold.ts',
        find: 'if (loss === 0n) return taken;',
        put: 'if (loss >= 0n) return taken;',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-04',
    plants: 'a charge above the hold is taken whatever is available',
    edits: [
      {
        file: 'src/ledger/end-hold.ts',
        find: 'smaller(charge, add(available, ended.amount)),',
        put: 'smaller(charge, add(charge, add(available, ended.amount))),',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-05',
    plants: 'an ending that stays within its hold takes from the available balance',
    edits: [
      {
        file: 'src/ledger/end-hold.ts',
        find: 'if (withinHold) return ended.amount;',
        put: 'if (withinHold && charge < ended.amount) return ended.amount;',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-06',
    plants: 'receipts are written after the transaction',
    edits: [
      {
        file: 'src/ledger/receipts.ts',
        find: 'return andThen(statements.insertReceipt(row), () => {',
        put: 'setImmediate(() => void statements.insertReceipt(row));\n    return andThen(undefined, () => {',
      },
    ],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    // By itself the first of the two does no harm: the receipt that is there refuses a second one in
    // its place, and the batch is done again with what is in the table.
    id: 'T-07a',
    plants: 'the head of a receipt chain is remembered for good',
    edits: [
      {
        file: 'src/ledger/commands.ts',
        find: 'if (now === undefined || now !== commits) {',
        put: 'if (commits === -1) {',
      },
      {
        file: 'src/ledger/receipts.ts',
        find: 'forget: () => heads.clear(),',
        put: 'forget: () => undefined,',
      },
    ],
    tests: ['test/ledger/receipts.test.ts'],
  },
  {
    id: 'T-07b',
    plants: 'the head of a receipt chain stays remembered when its transaction was undone',
    edits: [
      {
        file: 'src/ledger/receipts.ts',
        find: 'forget: () => heads.clear(),',
        put: 'forget: () => undefined,',
      },
    ],
    tests: ['test/ledger/writer.test.ts'],
  },
  {
    id: 'T-07c',
    plants: 'an open hold stays known when its transaction was undone',
    edits: [
      {
        file: 'src/ledger/open-holds.ts',
        find: '    known.clear();\n    byAccount.clear();\n',
        put: '    byAccount.clear();\n',
      },
    ],
    tests: ['test/ledger/open-holds.test.ts'],
  },
  {
    id: 'T-08a',
    plants: 'a credit is booked without a look whether its id was booked before',
    edits: [
      {
        file: 'src/ledger/credits.ts',
        find: 'if (booked.length > 0) {',
        put: 'if (booked.length > 1_000) {',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-08b',
    plants: 'a credit that is given again is another movement',
    edits: [
      {
        file: 'src/ledger/credits.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: 'const transferId = `credit:${creditId}`;',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: 'const transferId = `credit:${creditId}:${crypto.randomUUID()}`;',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-09a',
    plants: 'a code is redeemed by whoever has it, also where it was used before',
    edits: [
      {
        file: 'src/ledger/credits.ts',
        find: "    if (code.redeemedBy !== null) return { kind: 'refused', why: 'used' };\n",
        put: '',
      },
      {
        file: 'src/ledger/credits.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        find: '`redemption:${digest}`',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
        put: '`redemption:${digest}:${accountId}`',
      },
      {
        file: 'src/ledger/statements.ts',
        find: '        isNull(redemptionCodes.redeemedAt),\n',
        put: '',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-09b',
    plants: 'a code is redeemed although it was revoked',
    edits: [
      {
        file: 'src/ledger/credits.ts',
        find: 'if (code.revokedAt !== null) return',
        put: "if (code.revokedAt !== null && accountId === '') return",
      },
      {
        file: 'src/ledger/statements.ts',
        find: '        isNull(redemptionCodes.revokedAt),\n',
        put: '',
      },
    ],
    tests: ['test/ledger/codes.test.ts'],
  },
  {
    id: 'T-09c',
    plants: 'a code is redeemed after its time',
    edits: [
      {
        file: 'src/ledger/credits.ts',
        find: 'code.expiresAt <= nowMs)',
        put: 'code.expiresAt + 1_000 <= nowMs)',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-10',
    plants: 'a price version is believed to be written after its transaction was undone',
    edits: [
      {
        file: 'src/ledger/prices.ts',
        find: 'forget: () => known.clear()',
        put: 'forget: () => undefined',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'T-11',
    plants: 'a price version changes its meaning',
    edits: [
      {
        file: 'src/ledger/prices.ts',
        find: 'assert(same, `',
        put: "assert(same || version !== '', `",
      },
    ],
    tests: ['test/ledger/queue.test.ts', 'test/ledger/books.test.ts'],
  },
  {
    id: 'T-12',
    plants: 'a command that is refused leaves in its batch what it had written',
    edits: [
      {
        file: 'src/ledger/writer.ts',
        find: 'return await database.savepoint(() => apply(request));',
        put: 'return await apply(request);',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'T-13',
    plants: 'commits do not wait for the disk',
    edits: [
      {
        file: 'src/store/database.ts',
        find: "sync === 'full' ? 'FULL' : 'NORMAL'",
        put: "sync === 'full' ? 'OFF' : 'NORMAL'",
      },
    ],
    tests: ['test/store/database.test.ts'],
  },
  {
    id: 'T-14',
    plants: 'transactions take the lock only when they write',
    edits: [
      {
        file: 'src/store/database.ts',
        find: "transactions.run({ mode: 'IMMEDIATE', sync: mode }, work);",
        put: "transactions.run({ mode: 'DEFERRED', sync: mode }, work);",
      },
    ],
    tests: ['test/store/database.test.ts', 'test/ledger/process.test.ts'],
  },
  {
    id: 'T-15',
    plants: 'a hold that grows reserves more and does not say so',
    edits: [
      {
        file: 'src/ledger/commands.ts',
        find: '    await statements.raiseHold(requestId, amount, worst);\n',
        put: '',
      },
    ],
    tests: CONTRACT,
  },
  {
    id: 'T-16',
    plants: 'the queue takes commands without bound',
    edits: [
      {
        file: 'src/ledger/queue.ts',
        find: 'pending() >= WAITING_MAX',
        put: 'pending() < 0',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'T-17',
    plants: 'a settle that the disk refuses is dropped',
    edits: [
      {
        file: 'src/ledger/queue.ts',
        find: 'if (unavailable) kept.push(entry);',
        put: 'if (unavailable && entry.kept) kept.push(entry);',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'T-18',
    plants: 'the answers of a batch reach the wrong commands',
    edits: [
      {
        file: 'src/ledger/queue.ts',
        find: 'const batch = posted.splice(0, answers.length);',
        put: 'const batch = posted.splice(0, answers.length).toReversed();',
      },
    ],
    tests: ['test/ledger/queue.test.ts'],
  },
  {
    id: 'T-19',
    plants: 'the tables take a usage record with negative tokens',
    edits: [
      {
        file: 'drizzle/sqlite/0005_guards.sql',
        find: "  OR NEW.output_tokens < 0 OR NEW.reasoning_tokens < 0\nBEGIN SELECT RAISE(ABORT, 'a usage record",
        put: "\nBEGIN SELECT RAISE(ABORT, 'a usage record",
      },
    ],
    tests: ['test/ledger/books.test.ts'],
  },
];
