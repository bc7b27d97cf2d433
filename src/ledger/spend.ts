// What an account has spent day by day, and which of its requests hold money now, for its overview.
// It only reads: sums that are kept already, and an index that leads to the account's own rows.

import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import { DAY_MS, type Span } from '../core/calendar.ts';
import type { Micro } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import { holds, usageRecords } from '../store/money-tables.ts';
import type { Figures } from './series/figures.ts';
import { createSeriesReader } from './series/read.ts';

/** A UTC day in which requests of the account started, by its first millisecond. */
export type DaySpend = Figures & { readonly dayMs: number };

export type OpenRequest = {
  readonly requestId: string;
  readonly model: string;
  readonly keyId: string;
  readonly format: 'chat' | 'messages';
  readonly stream: boolean;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly reserved: Micro;
};

export type Spend = {
  /** Of whole days, oldest first; those without a request are left out. */
  readonly byDay: (accountId: string, days: Span) => Promise<readonly DaySpend[]>;
  /** Whether a request of the account was ever booked. */
  readonly isAny: (accountId: string) => Promise<boolean>;
  /** Newest first. */
  readonly open: (accountId: string, limit: number) => Promise<readonly OpenRequest[]>;
};

export function createSpend(database: Database): Spend {
  const { db } = database;
  const readSeries = createSeriesReader(database);
  const first = db
    .select({ requestId: usageRecords.requestId })
    .from(usageRecords)
    .where(eq(usageRecords.accountId, sql.placeholder('accountId')))
    .limit(1)
    .prepare();
  const open = db
    .select({
      requestId: holds.requestId,
      model: holds.model,
      keyId: holds.keyId,
      format: holds.format,
      stream: holds.stream,
      startedAt: holds.createdAt,
      reserved: holds.amount,
    })
    .from(holds)
    .where(and(eq(holds.accountId, sql.placeholder('accountId')), isNull(holds.endedAt)))
    .orderBy(desc(holds.createdAt))
    .limit(sql.placeholder('limit'))
    .prepare();

  return {
    async byDay(accountId, { fromMs, untilMs }) {
      const count = Math.round((untilMs - fromMs) / DAY_MS);
      const edges = Array.from({ length: count + 1 }, (_, index) => fromMs + index * DAY_MS);
      const { cells } = await readSeries({ accountId, edges, groupBy: 'total' });
      return cells
        .map(({ bucket, figures }) => ({ dayMs: fromMs + bucket * DAY_MS, ...figures }))
        .sort((one, other) => one.dayMs - other.dayMs);
    },
    isAny: async (accountId) => (await first.get({ accountId })) !== undefined,
    open: (accountId, limit) => open.all({ accountId, limit }),
  };
}
