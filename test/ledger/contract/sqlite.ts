// The books of a ledger in a SQLite file, as the tests on the contract look into them.

import { asc, eq } from 'drizzle-orm';
import { micro } from '../../../src/core/money.ts';
import { createBooks } from '../../../src/ledger/books.ts';
import type { Ledger } from '../../../src/ledger/contract.ts';
import type { Database } from '../../../src/store/contract.ts';
import { ledgerEntries, receipts, redemptionCodes } from '../../../src/store/money-tables.ts';
import { addAccount, NOW } from '../../support/ledger.ts';
import type { LedgerUnderTest } from './contract.ts';

/** `database` is a connection to the file that `ledger` writes to; both are closed at the end. */
export function overSqlite(database: Database, ledger: Ledger): LedgerUnderTest {
  const books = createBooks(database);
  return {
    ledger,
    balance: books.balance,
    story: books.explain,
    differences: async () =>
      (await books.audit()).map(({ kind, subject, detail }) => `${kind} ${subject}: ${detail}`),
    legs: () =>
      database.db
        .select({
          transferId: ledgerEntries.transferId,
          ledgerAccount: ledgerEntries.ledgerAccount,
          amount: ledgerEntries.amount,
        })
        .from(ledgerEntries)
        .orderBy(asc(ledgerEntries.id))
        .all(),
    receipts: async (accountId) =>
      (
        await database.db
          .select({ body: receipts.body })
          .from(receipts)
          .where(eq(receipts.accountId, accountId))
          .orderBy(asc(receipts.sequence))
          .all()
      ).map(({ body }) => body),
    addAccount: (accountId) => addAccount({ database, ledger, books }, accountId),
    async addCode({ code, amount, state }) {
      const row = {
        digest: code,
        masked: code,
        amount: micro(amount),
        reason: 'test',
        createdAt: NOW,
        expiresAt: state === 'expired' ? NOW : NOW + 1,
        revokedAt: state === 'revoked' ? NOW : null,
      };
      await database.db.insert(redemptionCodes).values(row).run();
    },
    async close() {
      await ledger.close();
      await database.close();
    },
  };
}
