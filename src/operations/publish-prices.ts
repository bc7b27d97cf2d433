// Merges a draft of prices into the catalog file: checks the result like any catalog, and publishes
// it. Prices have no other source.

import { type LoadedCatalog, loadFound } from '../catalog/live.ts';
import { draftedText, type PriceDraft } from '../catalog/price-draft.ts';
import { priceWarnings, withWritePrices } from '../catalog/price-warnings.ts';
import type { FoundCatalog } from '../catalog/source.ts';
import { parseInstant } from '../core/instant.ts';
import type { Catalog } from '../core/model.ts';
import type { Sentence } from '../core/sentence.ts';
import type { Change } from '../identity/audit.ts';
import { OperationError } from './error.ts';
import { type Published, publishText } from './publish-catalog.ts';

type PreparedPrices = {
  /** Identifies the current file, so that `publishPrices` detects a change. */
  readonly basedOn: string;
  /** The catalog with the draft in it. */
  readonly catalog: Catalog;
  readonly text: string;
  /** What an operator should know before publishing. */
  readonly warnings: readonly Sentence[];
};

/** Writes nothing. Throws `CatalogError` and `not_editable`. */
export function preparePrices(
  found: FoundCatalog,
  asked: PriceDraft,
  nowMs: number,
): PreparedPrices {
  const before: LoadedCatalog = loadFound(found, nowMs);
  const draft = withWritePrices(asked, before.catalog);
  const slugOf = (name: string) => before.catalog.resolve(name)?.slug;
  const drafted = draftedText(found.text, draft, slugOf, nowMs);
  if ('notEditable' in drafted) throw new OperationError('not_editable', drafted.notEditable);
  const { text } = drafted;
  const { catalog } = loadFound({ ...found, text }, nowMs);
  const warnings = priceWarnings(catalog, nowMs);
  return { basedOn: before.digest, catalog, text, warnings };
}

/** A summary of the draft, for the audit trail. */
export function draftSummary({ add = [], withdraw = [] }: PriceDraft) {
  const models = [...add, ...withdraw].map(({ model }) => model);
  return { added: add.length, withdrawn: withdraw.length, models: [...new Set(models)].join(', ') };
}

/** When the last of the drafted prices begins; `undefined` where none does. */
export function lastStart({ add = [] }: PriceDraft): number | undefined {
  const starts = add.flatMap(({ valid_from }) => parseInstant(valid_from) ?? []);
  return starts.length === 0 ? undefined : Math.max(...starts);
}

/** As `publishText`. */
export function publishPrices(
  change: Change,
  found: FoundCatalog,
  prepared: PreparedPrices,
  summary: Readonly<Record<string, string | number>>,
): Promise<Published> {
  const event = { action: 'prices.published', subject: 'catalog', detail: summary } as const;
  return publishText(change, found, prepared, event);
}
