// Months of accounts whose requests were written to archive files. Each row is the anchor of its
// account's books: receipts up to `lastSequence` are in files, and the chain continues from `head`
// and `closing`. Rows of requests that an anchor covers are removed in steps.

import { sql } from 'drizzle-orm';
import { check, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { amount, bytes, code, count, instant, serial } from './columns.ts';

/**
 * removing    the anchor counts, and rows that it covers may still be there
 * removed     its rows are gone, but for the last row of the table
 * restoring   rows are being written back; nothing is removed
 */
export const ARCHIVE_STATES = ['removing', 'removed', 'restoring'] as const;

export type ArchiveState = (typeof ARCHIVE_STATES)[number];

/** One row per account and month with receipts. Only `state` changes. */
export const archivedMonths = sqliteTable(
  'archived_months',
  {
    number: serial('number'),
    account: count().notNull(),
    /** The UTC month, such as `2026-10`. */
    month: text().notNull(),
    /** The receipts in the files, which continue the account's previous archive. */
    firstSequence: count('first_sequence').notNull(),
    lastSequence: count('last_sequence').notNull(),
    requests: count().notNull(),
    movements: count().notNull(),
    /** The balances before the first and after the last receipt. */
    opening: amount().notNull(),
    credited: amount().notNull(),
    debited: amount().notNull(),
    loss: amount().notNull(),
    closing: amount().notNull(),
    /** SHA-256 of the last receipt. */
    head: bytes().notNull(),
    /** SHA-256 of the numbers and hashes of its movements, which stay in the database. */
    movementsDigest: bytes('movements_digest').notNull(),
    /** SHA-256 and length of the two files. */
    receiptsDigest: bytes('receipts_digest').notNull(),
    receiptsBytes: count('receipts_bytes').notNull(),
    booksDigest: bytes('books_digest').notNull(),
    booksBytes: count('books_bytes').notNull(),
    /** The highest row number of its requests; 0 where it has none. */
    lastRow: count('last_row').notNull(),
    archivedAt: instant('archived_at').notNull(),
    /** SHA-256 of the account's previous anchor; null for the first one. */
    previous: bytes(),
    /** SHA-256 of the anchor's text (`core/anchor.ts`). */
    hash: bytes().notNull(),
    state: code(ARCHIVE_STATES)('state').notNull(),
    /** The times in its request ids. */
    idsFrom: instant('ids_from').notNull(),
    idsTo: instant('ids_to').notNull(),
    /** A filter that knows its request ids (`core/id-filter.ts`). */
    ids: bytes().notNull(),
  },
  (table) => [
    uniqueIndex('archived_months_month').on(table.account, table.month),
    uniqueIndex('archived_months_first').on(table.account, table.firstSequence),
    check(
      'archived_months_sound',
      sql`${table.firstSequence} between 1 and ${table.lastSequence}
        and ${table.requests} + ${table.movements} = ${table.lastSequence} - ${table.firstSequence} + 1
        and ${table.closing} = ${table.opening} + ${table.credited} - ${table.debited}`,
    ),
  ],
);
