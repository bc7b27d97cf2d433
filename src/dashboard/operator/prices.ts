// The price book in the console: current and scheduled prices, what-if calculations, and prices that
// are drafted in the catalog's text, which is the only source of prices.

import { Type } from '@sinclair/typebox';
import { createPause } from '../../async/yield.ts';
import { DRAFT, draftedText } from '../../catalog/price-draft.ts';
import { withWritePrices } from '../../catalog/price-warnings.ts';
import { isoTime, utcMonth } from '../../core/calendar.ts';
import type { Catalog } from '../../core/model.ts';
import { formatDecimal, MICRO_DECIMALS } from '../../core/money.ts';
import { createModelSeriesReader } from '../../ledger/series/models.ts';
import { eachUsedRequest, lastUsageRow } from '../../ledger/usage-records.ts';
import { requireUnarchived } from '../../operations/archive/notices.ts';
import { OperationError } from '../../operations/error.ts';
import {
  candidatePrices,
  comparisonRecord,
  createPreview,
} from '../../operations/price-preview.ts';
import { priceSheet } from '../../operations/price-sheet.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { TEXT_BODY_BYTES_MAX } from '../edge/body.ts';
import { DashboardError, invalidRequest } from '../edge/error.ts';
import { type OperatorRoutes, sessionRoute, viewRoute } from '../edge/route.ts';
import type { PreviewRecord, PriceBookRecord } from '../records/operator-catalog.ts';
import { catalogFileRecord } from './catalog-file.ts';
import { checkDraft } from './catalog-text.ts';

const MONTH = Type.Optional(Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$' }));

export function priceRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { catalog, machine, clock } = dependencies;
  const whatIf = createWhatIf(dependencies);
  return [
    viewRoute({
      path: '/prices',
      handle: priceBook,
    }),
    sessionRoute({
      method: 'POST',
      path: '/prices/draft',
      bodyBytesMax: TEXT_BODY_BYTES_MAX,
      permission: 'prices.preview',
      body: { ...DRAFT, text: Type.String() },
      handle({ body: { text, ...draft } }) {
        const slugOf = (name: string) => catalog().resolve(name)?.slug ?? name;
        const priced = withWritePrices(draft, catalog());
        const drafted = draftedText(text, priced, slugOf, clock());
        if ('text' in drafted) return drafted;
        throw new OperationError('not_editable', drafted.notEditable);
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/prices/preview',
      bodyBytesMax: TEXT_BODY_BYTES_MAX,
      permission: 'prices.preview',
      body: { text: Type.String(), month: MONTH },
      async handle({ body: { text, month }, request }) {
        const found = machine.findCatalog();
        const { result } = await checkDraft(dependencies, text, found);
        if (result === undefined) {
          throw invalidRequest('The draft is not a valid catalog. Correct it first.', 'text');
        }
        return whatIf(result.catalog, catalog(), month, request.signal);
      },
    }),
  ];

  function priceBook(): PriceBookRecord {
    const current = catalog();
    const { at, models } = priceSheet(current, current.models, clock());
    const usd_per_million = formatDecimal(current.usdPerMillion, MICRO_DECIMALS);
    return { at, models, usd_per_million, file: catalogFileRecord(dependencies) };
  }
}

/** When the last of the prices that only the draft has begins; `undefined` where none is later. */
function lastStart(drafted: Catalog, current: Catalog): number | undefined {
  const starts = drafted.models.flatMap(({ slug, prices }) => {
    const known = current.resolve(slug)?.prices ?? [];
    const added = prices
      .slice(1)
      .filter((price) => !known.some((each) => Bun.deepEquals(each, price)));
    return added.map(({ validFromMs }) => validFromMs);
  });
  return starts.length === 0 ? undefined : Math.max(...starts);
}

/** Blocks the event loop for some milliseconds. */
const ROWS_AT_ONCE = 500;

/**
 * Recalculates past requests at draft prices and at those that hold without the draft. A month can be large, so it is read in small batches on
 * its own connection, one calculation at a time.
 */
function createWhatIf({ machine, clock }: Pick<MachineDependencies, 'machine' | 'clock'>) {
  let asking = false;
  return async (
    drafted: Catalog,
    current: Catalog,
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
      // Without a later start in the draft, each request has the prices of its own time.
      const pricesAtMs = lastStart(drafted, current);
      const draft = createPreview(candidatePrices(drafted, pricesAtMs));
      const without = createPreview(candidatePrices(current, pricesAtMs));
      const pause = createPause(() => performance.now());
      const last = await lastUsageRow(reader);
      for (let after = 0; after < last && !aborted.aborted; after += ROWS_AT_ONCE) {
        const rows = { after, until: after + ROWS_AT_ONCE };
        for await (const request of eachUsedRequest(reader, { ...span, rows })) {
          draft.add(request);
          without.add(request);
        }
        await pause();
      }
      const { cells } = await createModelSeriesReader(reader)(
        [span.fromMs, span.untilMs],
        'requested',
      );
      await requireUnarchived(reader, span);
      return {
        from: isoTime(span.fromMs),
        to: isoTime(span.untilMs),
        prices_at: pricesAtMs === undefined ? null : isoTime(pricesAtMs),
        ...comparisonRecord(
          draft.result(),
          without.result(),
          new Map(cells.map(({ group, figures }) => [group, figures])),
        ),
      };
    } finally {
      asking = false;
      await reader.close();
    }
  };
}
