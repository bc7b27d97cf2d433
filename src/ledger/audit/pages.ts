// Reads long tables for the audit in windows of row numbers, one statement each. A transaction over
// a whole table would keep the log from being checkpointed.

import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../store/contract.ts';

const WINDOW_ROWS = 2_000n;

/** Accounts that are audited together. */
export const ACCOUNTS_PAGE = 200;

type AuditedTable = 'requests' | 'movements' | 'redemption_codes';

type Ends = { readonly first: bigint | null; readonly last: bigint | null };

/** A window covers the rows above `after`, up to `to`. */
export type RowRange = { readonly after: bigint; readonly to: bigint };

/** Windows over the rows of a table as it is now; later rows are appended after them. */
async function* windowsOf(database: Database, table: AuditedTable): AsyncGenerator<RowRange> {
  const number = sql.identifier(table === 'redemption_codes' ? 'rowid' : 'number');
  // Two statements in one, because SQLite reads either end of a table at once, and not both.
  const query = sql`select (select min(${number}) from ${sql.identifier(table)}) as first,
    (select max(${number}) from ${sql.identifier(table)}) as last`;
  const found = await database.settled(() => one<Ends>(database, query));
  const last = found?.last ?? 0n;
  for (let after = (found?.first ?? 1n) - 1n; after < last; after += WINDOW_ROWS) {
    const to = after + WINDOW_ROWS;
    yield { after, to: to < last ? to : last };
  }
}

/** The rows that a query returns in each window of a table. */
export async function* rowsInWindows<Row>(
  database: Database,
  table: AuditedTable,
  query: (window: RowRange) => SQL,
): AsyncGenerator<Row> {
  for await (const window of windowsOf(database, table))
    yield* await database.rows<Row>(query(window));
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
