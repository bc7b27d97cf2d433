// The price book in the console: current and scheduled prices, drafts, what-if calculations, and
// publishing into the catalog file, which is the only source of prices.

import { Type } from '@sinclair/typebox';
import { catalogDigest } from '../../catalog/live.ts';
import { DRAFT, draftSnippet, type PriceDraft } from '../../catalog/price-draft.ts';
import { CatalogError, type FoundCatalog } from '../../catalog/source.ts';
import { formatDecimal, MICRO_DECIMALS } from '../../core/money.ts';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import { OperationError } from '../../operations/error.ts';
import { priceSheet } from '../../operations/price-sheet.ts';
import {
  draftSummary,
  preparePrices,
  publishPrices,
  whyNotWritable,
} from '../../operations/publish-prices.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { DashboardError } from '../edge/error.ts';
import { type Route, sessionRoute, stepUpRoute } from '../edge/route.ts';
import type {
  DraftCheckRecord,
  PriceBookRecord,
  PublishedRecord,
} from '../records/operator-catalog.ts';
import { changeOf } from './dependencies.ts';
import { createWhatIf } from './what-if.ts';

const MONTH = Type.Optional(Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$' }));

export function priceRoutes(dependencies: MachineDependencies): readonly Route<SignedInOperator>[] {
  const { catalog, machine, clock } = dependencies;
  const whatIf = createWhatIf(dependencies);
  return [
    sessionRoute({
      method: 'GET',
      path: '/prices',
      handle: () => priceBook(dependencies),
    }),
    sessionRoute({
      method: 'POST',
      path: '/prices/check',
      body: DRAFT,
      handle: ({ body }): DraftCheckRecord => check(() => machine.findCatalog(), body, clock()),
    }),
    sessionRoute({
      method: 'POST',
      path: '/prices/preview',
      body: { ...DRAFT, month: MONTH },
      async handle({ body: { month, ...draft }, request }) {
        const prepared = orRefused(() => preparePrices(machine.findCatalog(), draft, clock()));
        return whatIf(prepared.catalog, draft, month, request.signal);
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/prices/publish',
      body: { ...DRAFT, based_on: Type.String({ maxLength: 64 }) },
      async handle({ body: { based_on, ...draft }, actor }): Promise<PublishedRecord> {
        const found = orRefused(machine.findCatalog);
        const prepared = orRefused(() => preparePrices(found, draft, clock()));
        const seen = { ...prepared, basedOn: based_on };
        const change = changeOf(dependencies, actor);
        const published = await publishPrices(change, found, seen, draftSummary(draft));
        const { digest, refused } = await dependencies.reloadCatalog();
        return {
          ...published,
          in_force: digest === published.digest,
          problems: refused?.problems ?? [],
        };
      },
    }),
  ];

  function priceBook({ catalogStatus }: MachineDependencies): PriceBookRecord {
    const current = catalog();
    const { at, models } = priceSheet(current, current.models, clock());
    const usd_per_million = formatDecimal(current.usdPerMillion, MICRO_DECIMALS);
    return { at, models, usd_per_million, file: fileRecord(catalogStatus().digest) };
  }

  function fileRecord(inForce: string): PriceBookRecord['file'] {
    try {
      const found = machine.findCatalog();
      const digest = catalogDigest(found.text);
      return {
        path: found.path ?? null,
        digest,
        in_force: digest === inForce,
        not_writable: whyNotWritable(found) ?? null,
      };
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      const [reason = 'The catalog cannot be read.'] = error.problems;
      return { path: null, digest: null, in_force: false, not_writable: reason };
    }
  }
}

function check(find: () => FoundCatalog, draft: PriceDraft, nowMs: number): DraftCheckRecord {
  try {
    const { basedOn, snippet } = preparePrices(find(), draft, nowMs);
    return { ok: true, problems: [], based_on: basedOn, snippet };
  } catch (error) {
    if (error instanceof CatalogError) {
      return { ok: false, problems: error.problems, based_on: null, snippet: null };
    }
    if (!(error instanceof OperationError)) throw error;
    return { ok: false, problems: [error.message], based_on: null, snippet: draftSnippet(draft) };
  }
}

/** Its messages name locations in the catalog and contain none of its values. */
function orRefused<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    throw new DashboardError('invalid_request', error.problems.join('; '));
  }
}
