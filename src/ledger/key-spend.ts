// Reads what each key of an account spent today and in 30 UTC days, from the usage series: a few rows
// per key and day, however many requests there were. Read-only.

import { DAY_MS, utcDay } from '../core/calendar.ts';
import { add, type Micro, ZERO } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import { createSeriesReader } from './series/read.ts';

/** Today included. */
const SPEND_DAYS = 30;

type KeySpend = { readonly today: Micro; readonly month: Micro };

export const NO_SPEND: KeySpend = { today: ZERO, month: ZERO };

export function createKeySpend(database: Database) {
  const readSeries = createSeriesReader(database);
  /** By key id; a key without requests in this time is missing. */
  return async (accountId: string, nowMs: number): Promise<ReadonlyMap<string, KeySpend>> => {
    const { fromMs, untilMs } = utcDay(nowMs);
    const edges = [fromMs - (SPEND_DAYS - 1) * DAY_MS, fromMs, untilMs];
    const { cells } = await readSeries({ accountId, edges, groupBy: 'key' });
    const spent = new Map<string, KeySpend>();
    for (const { bucket, group, figures } of cells) {
      const { today, month } = spent.get(group) ?? NO_SPEND;
      spent.set(group, {
        today: bucket === 1 ? add(today, figures.debited) : today,
        month: add(month, figures.debited),
      });
    }
    return spent;
  };
}
