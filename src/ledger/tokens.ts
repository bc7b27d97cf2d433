// Token sums out of the books: what the daily and monthly caps start from after a restart.

import { and, eq, gte, isNull, sql } from 'drizzle-orm';
import { SLICE_TOKENS } from '../core/price.ts';
import type { Queries } from '../store/database.ts';
import { holds, usageRecords } from '../store/tables.ts';

export type TokenCounts = {
  readonly usageSince: (accountId: string, sinceMs: number) => number;
  readonly openHoldTokens: (accountId: string) => number;
};

export function prepareTokenCounts(db: Queries): TokenCounts {
  const used = db
    .select({
      tokens:
        sql`coalesce(sum(${usageRecords.inputTokens} + ${usageRecords.outputTokens}), 0)`.mapWith(
          Number,
        ),
    })
    .from(usageRecords)
    .where(
      and(
        eq(usageRecords.accountId, sql.placeholder('accountId')),
        gte(usageRecords.startedAt, sql.placeholder('sinceMs')),
      ),
    )
    .prepare();

  const open = db
    .select({
      tokens:
        sql`coalesce(sum(${holds.promptTokens} + min(${holds.outputBound}, ${SLICE_TOKENS})), 0)`.mapWith(
          Number,
        ),
    })
    .from(holds)
    .where(and(eq(holds.accountId, sql.placeholder('accountId')), isNull(holds.endedAt)))
    .prepare();

  return {
    usageSince: (accountId, sinceMs) => used.get({ accountId, sinceMs })?.tokens ?? 0,
    openHoldTokens: (accountId) => open.get({ accountId })?.tokens ?? 0,
  };
}
