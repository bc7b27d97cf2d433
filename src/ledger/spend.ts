// Reads an account's spend per day and its requests with open holds, for its overview. Read-only,
// from stored sums and the index of the account's own rows.

import { and, desc, eq, gt, sql } from 'drizzle-orm';
import { DAY_MS, type Span } from '../core/calendar.ts';
import { archivedMonths } from '../store/archive-tables.ts';
import type { Database } from '../store/contract.ts';
import { balances } from '../store/money-tables.ts';
import { holds, usageRecords } from '../store/money-views.ts';
import type { Figures } from './series/figures.ts';
import { createSeriesReader } from './series/read.ts';

/** A UTC day in which requests of the account started, by its first millisecond. */
export type DaySpend = Figures & { readonly dayMs: number };

export type Spend = ReturnType<typeof createSpend>;

export type OpenRequest = Awaited<ReturnType<Spend['open']>>[number];

export function createSpend(database: Database) {
  const { db } = database;
  const readSeries = createSeriesReader(database);
  const first = db
    .select({ requestId: usageRecords.requestId })
    .from(usageRecords)
    .where(eq(usageRecords.accountId, sql.placeholder('accountId')))
    .limit(1)
    .prepare();
  const archived = db
    .select({ requests: archivedMonths.requests })
    .from(archivedMonths)
    .innerJoin(balances, eq(balances.number, archivedMonths.account))
    .where(
      and(eq(balances.accountId, sql.placeholder('accountId')), gt(archivedMonths.requests, 0)),
    )
    .limit(1)
    .prepare();
  const open = db
    .select({
      requestId: holds.requestId,
      model: holds.model,
      keyId: holds.keyId,
      format: holds.format,
      stream: holds.stream,
      startedAt: holds.startedAt,
      reserved: holds.amount,
    })
    .from(holds)
    .where(eq(holds.accountId, sql.placeholder('accountId')))
    .orderBy(desc(holds.startedAt))
    .limit(sql.placeholder('limit'))
    .prepare();

  return {
    /** Whole days, oldest first, without those that have no request. */
    async byDay(accountId: string, { fromMs, untilMs }: Span): Promise<readonly DaySpend[]> {
      const count = Math.round((untilMs - fromMs) / DAY_MS);
      const edges = Array.from({ length: count + 1 }, (_, index) => fromMs + index * DAY_MS);
      const { cells } = await readSeries({ accountId, edges, groupBy: 'total' });
      return cells
        .map(({ bucket, figures }) => ({ dayMs: fromMs + bucket * DAY_MS, ...figures }))
        .sort((one, other) => one.dayMs - other.dayMs);
    },
    /** Whether the account has any booked request, archived ones included. */
    isAny: async (accountId: string) =>
      (await first.get({ accountId })) !== undefined ||
      (await archived.get({ accountId })) !== undefined,
    /** Newest first. */
    open: (accountId: string, limit: number) => open.all({ accountId, limit }),
  };
}
