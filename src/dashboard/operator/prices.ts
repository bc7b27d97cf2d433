// The price book in the console: current and scheduled prices, drafts, what-if calculations, and
// publishing into the catalog file, which is the only source of prices.

import { Type } from '@sinclair/typebox';
import { createPause } from '../../async/yield.ts';
import { DRAFT, draftSnippet, type PriceDraft } from '../../catalog/price-draft.ts';
import { CatalogError, type FoundCatalog } from '../../catalog/source.ts';
import { isoTime, utcMonth } from '../../core/calendar.ts';
import type { Catalog } from '../../core/model.ts';
import { formatDecimal, MICRO_DECIMALS } from '../../core/money.ts';
import { eachUsedRequest, lastUsageRow } from '../../ledger/usage-records.ts';
import { requireUnarchived } from '../../operations/archive/notices.ts';
import { OperationError } from '../../operations/error.ts';
import { candidatePrices, createPreview, previewRecord } from '../../operations/price-preview.ts';
import { priceSheet } from '../../operations/price-sheet.ts';
import {
  draftSummary,
  lastStart,
  preparePrices,
  publishPrices,
} from '../../operations/publish-prices.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { DashboardError } from '../edge/error.ts';
import { type OperatorRoutes, sessionRoute, stepUpRoute, viewRoute } from '../edge/route.ts';
import type {
  DraftCheckRecord,
  PreviewRecord,
  PriceBookRecord,
  PublishedRecord,
} from '../records/operator-catalog.ts';
import { catalogFileRecord, orRefused, takeUp } from './catalog-file.ts';
import { changeOf } from './dependencies.ts';

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
      path: '/prices/check',
      permission: 'prices.preview',
      body: DRAFT,
      handle: ({ body }): DraftCheckRecord => check(() => machine.findCatalog(), body, clock()),
    }),
    sessionRoute({
      method: 'POST',
      path: '/prices/preview',
      permission: 'prices.preview',
      body: { ...DRAFT, month: MONTH },
      async handle({ body: { month, ...draft }, request }) {
        const prepared = orRefused(() => preparePrices(machine.findCatalog(), draft, clock()));
        return whatIf(prepared.catalog, draft, month, request.signal);
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/prices/publish',
      permission: 'service.manage',
      body: { ...DRAFT, based_on: Type.String({ maxLength: 64 }) },
      async handle({ body: { based_on, ...draft }, actor }): Promise<PublishedRecord> {
        const found = orRefused(machine.findCatalog);
        const prepared = orRefused(() => preparePrices(found, draft, clock()));
        const seen = { ...prepared, basedOn: based_on };
        const change = changeOf(dependencies, actor);
        const published = await publishPrices(change, found, seen, draftSummary(draft));
        return takeUp(dependencies, published);
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

const REFUSED = { ok: false, warnings: [], based_on: null } as const;

function check(find: () => FoundCatalog, draft: PriceDraft, nowMs: number): DraftCheckRecord {
  try {
    const { basedOn, snippet, warnings } = preparePrices(find(), draft, nowMs);
    return { ok: true, problems: [], warnings, based_on: basedOn, snippet };
  } catch (error) {
    if (error instanceof CatalogError) {
      return { ...REFUSED, problems: error.problems, snippet: null };
    }
    if (!(error instanceof OperationError)) throw error;
    return { ...REFUSED, problems: [error.message], snippet: draftSnippet(draft) };
  }
}

/** Blocks the event loop for some milliseconds. */
const ROWS_AT_ONCE = 500;

/**
 * Recalculates past requests at draft prices. A month can be large, so it is read in small batches on
 * its own connection, one calculation at a time.
 */
function createWhatIf({ machine, clock }: Pick<MachineDependencies, 'machine' | 'clock'>) {
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
