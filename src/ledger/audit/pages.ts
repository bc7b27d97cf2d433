// Reads long tables for the audit in windows of row numbers, one statement each. A transaction over
// a whole table would keep the log from being checkpointed.

import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../store/contract.ts';
import type { AuditScope } from './difference.ts';
import { EVERYTHING, type NumberRange, rangesOf } from './pass.ts';

const WINDOW_ROWS = 2_000;

/** Accounts that are audited together. */
export const ACCOUNTS_PAGE = 200;

type AuditedTable = 'requests' | 'movements' | 'redemption_codes';

type Ends = { readonly first: bigint | null; readonly last: bigint | null };

/**
 * The rows that a query returns in each window of a table as it is now; later rows are appended.
 * Codes are redeemed long after their row was written, so all of them are old.
 */
export async function* rowsInWindows<Row>(
  database: Database,
  table: AuditedTable,
  { pass: asked = EVERYTHING, rest }: AuditScope,
  query: (window: NumberRange) => SQL,
): AsyncGenerator<Row> {
  const number = sql.identifier(table === 'redemption_codes' ? 'rowid' : 'number');
  // Two statements in one, because SQLite reads either end of a table at once, and not both.
  const ends = sql`select (select min(${number}) from ${sql.identifier(table)}) as first,
    (select max(${number}) from ${sql.identifier(table)}) as last`;
  const found = await database.settled(() => one<Ends>(database, ends));
  const rows = { after: Number(found?.first ?? 1n) - 1, to: Number(found?.last ?? 0n) };
  // A window has rows of all accounts.
  const pass = asked.wrong.length > 0 ? EVERYTHING : asked;
  const mark = table === 'redemption_codes' ? rows.to : pass[table];
  for (const { after: begin, to } of rangesOf(pass, rows, mark)) {
    for (let after = begin; after < to; after += WINDOW_ROWS) {
      yield* await database.rows<Row>(query({ after, to: Math.min(after + WINDOW_ROWS, to) }));
      await rest?.();
    }
  }
}

/** Narrows a query to the given account, if any. */
export function ofAccount(column: SQL, value: string | undefined): SQL {
  return value === undefined ? sql`` : sql`and ${column} = ${value}`;
}

/** The given account or all accounts, in pages. */
export async function* accountPages(
  database: Database,
  accountId: string | undefined,
): AsyncGenerator<string[]> {
  if (accountId !== undefined) return yield [accountId];
  let after = '';
  for (;;) {
    const rows = await database.rows<{ id: string }>(
      sql`select id from accounts where id > ${after} order by id limit ${ACCOUNTS_PAGE}`,
    );
    const page = rows.map(({ id }) => id);
    if (page.length > 0) yield page;
    if (page.length < ACCOUNTS_PAGE) return;
    after = page.at(-1) ?? after;
  }
}

export async function one<Row>(database: Database, query: SQL): Promise<Row | undefined> {
  const [row] = await database.rows<Row>(query);
  return row;
}
