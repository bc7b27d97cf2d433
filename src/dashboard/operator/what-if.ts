// Recalculates past requests at draft prices. A month can be large, so it is read in small batches
// on its own connection, one calculation at a time.

import { createPause } from '../../async/yield.ts';
import type { PriceDraft } from '../../catalog/price-draft.ts';
import { isoTime, utcMonth } from '../../core/calendar.ts';
import type { Catalog } from '../../core/model.ts';
import { eachUsedRequest, lastUsageRow } from '../../ledger/usage-records.ts';
import { requireUnarchived } from '../../operations/archive/notices.ts';
import { candidatePrices, createPreview, previewRecord } from '../../operations/price-preview.ts';
import { lastStart } from '../../operations/publish-prices.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { DashboardError } from '../edge/error.ts';
import type { PreviewRecord } from '../records/operator-catalog.ts';

/** Blocks the event loop for some milliseconds. */
const ROWS_AT_ONCE = 500;

export function createWhatIf({ machine, clock }: Pick<MachineDependencies, 'machine' | 'clock'>) {
  let asking = false;
  return async (
    candidate: Catalog,
    draft: PriceDraft,
    /** Such as 2026-10; absent means the previous month. */
    month: string | undefined,
    aborted: AbortSignal,
  ): Promise<PreviewRecord> => {
    if (asking) {
      throw new DashboardError(
        'conflict',
        'Another calculation is running. Try again in a minute.',
      );
    }
    const reader = machine.openReader();
    asking = true;
    try {
      const span =
        month === undefined
          ? utcMonth(utcMonth(clock()).fromMs - 1)
          : utcMonth(Date.parse(`${month}-01T00:00:00Z`));
      await requireUnarchived(reader, span);
      const pricesAtMs = lastStart(draft);
      const sums = createPreview(candidatePrices(candidate, pricesAtMs));
      const pause = createPause(() => performance.now());
      const last = await lastUsageRow(reader);
      for (let after = 0; after < last && !aborted.aborted; after += ROWS_AT_ONCE) {
        const rows = { after, until: after + ROWS_AT_ONCE };
        for await (const request of eachUsedRequest(reader, { ...span, rows })) sums.add(request);
        await pause();
      }
      await requireUnarchived(reader, span);
      return {
        from: isoTime(span.fromMs),
        to: isoTime(span.untilMs),
        prices_at: pricesAtMs === undefined ? null : isoTime(pricesAtMs),
        ...previewRecord(sums.result()),
      };
    } finally {
      asking = false;
      await reader.close();
    }
  };
}
