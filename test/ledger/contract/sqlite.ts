// Access to the ledger's SQLite file for the tests of the contract.

import { micro } from '../../../src/core/money.ts';
import { createBooks } from '../../../src/ledger/books.ts';
import { readKeyBudgets } from '../../../src/ledger/budget-list.ts';
import type { Ledger } from '../../../src/ledger/contract.ts';
import { findSlice, receiptPages } from '../../../src/ledger/receipt-slices.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import type { Database } from '../../../src/store/contract.ts';
import { redemptionCodes } from '../../../src/store/money-tables.ts';
import { ledgerEntries } from '../../../src/store/money-views.ts';
import { apiKeys } from '../../../src/store/tables.ts';
import { addAccount, NOW, onDisk } from '../../support/ledger.ts';
import type { LedgerUnderTest } from './contract.ts';

/** `database` is a connection to the file that `ledger` writes to; both are closed at the end. */
export function overSqlite(database: Database, ledger: Ledger): LedgerUnderTest {
  const books = createBooks(database);
  return {
    ledger: onDisk(ledger),
    balance: books.balance,
    story: books.explain,
    differences: async () =>
      (await books.audit()).map(({ kind, subject, detail }) => `${kind} ${subject}: ${detail}`),
    legs: async () =>
      (await database.db.select().from(ledgerEntries)).map((entry) => ({
        transferId: entry.transferId ?? `${entry.kind}:${entry.requestId}`,
        ledgerAccount: entry.ledgerAccount,
        amount: entry.amount,
      })),
    async receipts(accountId) {
      const slice = await findSlice(database.db, accountId, undefined);
      if (slice === undefined) return [];
      return (await Array.fromAsync(receiptPages(database.db, accountId, slice))).flat();
    },
    addAccount: (accountId) => addAccount({ database, ledger, books }, accountId),
    budget: async (family) => (await readKeyBudgets(database, [family])).get(family),
    async addKey(accountId, id, family) {
      const row = { id, accountId, digest: id, masked: id, createdAt: NOW, family: family ?? null };
      await database.db.insert(apiKeys).values(row).run();
    },
    addUp: () => createRollUp(database).step(1_000),
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
