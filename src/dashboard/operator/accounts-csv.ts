// Exports accounts as CSV (RFC 4180), oldest first, reading one page at a time.

import type { Catalog } from '../../core/model.ts';
import { listAccounts, listedAccountRecord } from '../../operations/account-list.ts';
import type { AccountFilter } from '../../operations/account-records.ts';
import type { Database } from '../../store/contract.ts';
import { csvCell } from '../customer/requests-csv.ts';
import type { ListedAccountRecord } from '../records/operator-account.ts';

type Pages = AsyncGenerator<Awaited<ReturnType<typeof listAccounts>>, void>;

const PAGE = 200;

/** All accounts that match, page by page. */
export async function* accountPages(
  database: Pick<Database, 'db'>,
  filter: AccountFilter,
  nowMs: number,
): Pages {
  const order = { field: 'created', descending: false } as const;
  for (let after: { value: number; tie: number } | undefined; ; ) {
    const rows = await listAccounts(database, filter, { limit: PAGE, order, after }, nowMs);
    yield rows;
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) return;
    after = { value: last.number, tie: last.number };
  }
}

type Column = readonly [name: string, value: (account: ListedAccountRecord) => string];

const month = (name: keyof ListedAccountRecord['last_30_days']): Column['1'] => {
  return (account) => String(account.last_30_days[name]);
};

/** Amounts are plain decimals, which never start a formula: a minus is followed by digits only. */
const COLUMNS: readonly Column[] = [
  ['account_id', ({ id }) => csvCell(id)],
  ['email', ({ email }) => csvCell(email)],
  ['email_verified', (account) => csvCell(account.email_verified)],
  ['standing', ({ standing }) => csvCell(standing)],
  ['blocked', ({ blocked }) => csvCell(blocked)],
  ['plan', ({ plan }) => csvCell(plan.slug)],
  ['created_at', (account) => csvCell(account.created_at)],
  ['last_active_at', (account) => csvCell(account.last_active_at ?? '')],
  ['active_keys', (account) => csvCell(account.api_keys.active)],
  ['svc_tokens_available', ({ balance }) => balance.available],
  ['usd_available', ({ balance }) => balance.available_usd],
  ['requests_30d', month('requests')],
  ['failed_30d', month('failed')],
  ['svc_tokens_spent_30d', month('spent')],
  ['usd_spent_30d', month('spent_usd')],
  ['usd_cost_30d', month('cost_usd')],
  ['usd_margin_30d', month('margin_usd')],
  ['requests_of_unknown_cost_30d', month('uncosted')],
];

export async function* accountsCsv(
  pages: Pages,
  catalog: Catalog,
): AsyncGenerator<string, void, undefined> {
  yield `${COLUMNS.map(([name]) => csvCell(name)).join(',')}\r\n`;
  for await (const rows of pages) {
    const lines = rows.map((row) => {
      const record = listedAccountRecord(row, catalog);
      return COLUMNS.map(([, value]) => value(record)).join(',');
    });
    if (lines.length > 0) yield `${lines.join('\r\n')}\r\n`;
  }
}
