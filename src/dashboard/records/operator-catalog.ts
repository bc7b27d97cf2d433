// The console's records about models, prices, the catalog, and totals of all accounts.

import type { PriceDraft } from '../../catalog/price-draft.ts';
import type { amountRecord, figuresRecord, holdRecord } from '../../operations/figure-records.ts';
import type { incidentRecord } from '../../operations/incidents.ts';
import type { operatorModelRecord } from '../../operations/operator-model.ts';
import type { previewRecord } from '../../operations/price-preview.ts';
import type { priceSheet } from '../../operations/price-sheet.ts';
import type { publishPrices } from '../../operations/publish-prices.ts';

export type ModelPricesRecord = ReturnType<typeof priceSheet>['models'][number];

export type PricePeriodRecord = ModelPricesRecord['prices'][number];

export type CatalogWindowRecord = PricePeriodRecord['windows'][number];

export type PriceBookRecord = {
  readonly at: string;
  readonly models: readonly ModelPricesRecord[];
  readonly usd_per_million: string;
  readonly file: {
    readonly path: string | null;
    /** The digest of the current file, on which a draft is based. Null if unreadable. */
    readonly digest: string | null;
    readonly in_force: boolean;
    /** The reason publishing is not possible; null if it is. */
    readonly not_writable: string | null;
  };
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

export type IncidentRecord = ReturnType<typeof incidentRecord>;

export type OperatorModelRecord = ReturnType<typeof operatorModelRecord>;

/** Incidents of models no longer in the catalog are in `forgotten`. */
export type OperatorModelsRecord = {
  readonly models: readonly OperatorModelRecord[];
  readonly forgotten: readonly IncidentRecord[];
};

export type CatalogRecord = {
  readonly version: number;
  readonly origin: 'file' | 'built-in';
  readonly path: string | null;
  readonly digest: string;
  /** The digest of the current file; null if unreadable. */
  readonly digest_on_disk: string | null;
  readonly loaded_at: string;
  readonly models: number;
  readonly upstreams: number;
  readonly plans: number;
  readonly warnings: readonly string[];
  readonly refused: { readonly at: string; readonly problems: readonly string[] } | null;
};

export type CatalogCheckRecord = {
  readonly ok: boolean;
  readonly digest: string | null;
  readonly problems: readonly string[];
};

export type MoneyFiguresRecord = ReturnType<typeof figuresRecord>;

export type MoneyAccountRecord = ReturnType<typeof amountRecord>;

export type MoneyRecord = {
  readonly from: string;
  readonly to: string;
  readonly step: 'hour' | 'day';
  readonly balances: {
    readonly accounts: number;
    readonly posted: string;
    readonly posted_usd: string;
    readonly held: string;
    readonly held_usd: string;
  };
  readonly totals: MoneyFiguresRecord;
  /** The totals of the period before, until as much of it had passed. */
  readonly before: MoneyFiguresRecord;
  readonly models: readonly (MoneyFiguresRecord & { readonly model: string })[];
  readonly series: readonly (MoneyFiguresRecord & { readonly at: string })[];
  readonly holds: {
    readonly open: number;
    readonly oldest: readonly ReturnType<typeof holdRecord>[];
  };
  readonly largest_balances: readonly MoneyAccountRecord[];
  /** Requests not yet counted. */
  readonly behind: number;
};
