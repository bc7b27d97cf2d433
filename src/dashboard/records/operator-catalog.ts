// The console's records about models, prices, the catalog, and totals of all accounts.

import type { PriceDraft } from '../../catalog/price-draft.ts';
import type { previewRecord } from '../../operations/price-preview.ts';
import type { priceSheet } from '../../operations/price-sheet.ts';
import type { publishPrices } from '../../operations/publish-prices.ts';
import type { catalogRecord, checkRecord } from '../operator/catalog.ts';
import type { catalogFileRecord } from '../operator/catalog-file.ts';

export type ModelPricesRecord = ReturnType<typeof priceSheet>['models'][number];

export type PricePeriodRecord = ModelPricesRecord['prices'][number];

export type CatalogWindowRecord = PricePeriodRecord['windows'][number];

export type PriceBookRecord = {
  readonly at: string;
  readonly models: readonly ModelPricesRecord[];
  readonly usd_per_million: string;
  readonly file: ReturnType<typeof catalogFileRecord>;
};

export type DraftPeriod = Draft['add'][number];

export type Draft = Required<PriceDraft>;

/** `problems` is empty if the draft can be published. */
export type DraftCheckRecord = {
  readonly ok: boolean;
  readonly problems: readonly string[];
  /** Prices that do not cover what an upstream charges; they can be published. */
  readonly warnings: readonly string[];
  /** The digest that was checked; publishing must send it back. */
  readonly based_on: string | null;
  /** The drafted prices as catalog text, for copying. */
  readonly snippet: string | null;
};

export type PreviewRecord = ReturnType<typeof previewRecord> & {
  readonly from: string;
  readonly to: string;
  readonly prices_at: string | null;
};

export type PreviewSumRecord = PreviewRecord['totals'];

export type PublishedRecord = Awaited<ReturnType<typeof publishPrices>> & {
  /** Whether the server uses it now; otherwise `problems` has the reasons. */
  readonly in_force: boolean;
  readonly problems: readonly string[];
};

export type CatalogRecord = ReturnType<typeof catalogRecord>;

export type CatalogCheckRecord = ReturnType<typeof checkRecord>;
