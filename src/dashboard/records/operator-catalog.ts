// The console's records about models, prices, the catalog, and totals of all accounts.

import type { CatalogEntry, CatalogEntryKind } from '../../catalog/entries.ts';
import type { EntryField } from '../../catalog/entry-fields.ts';
import type { PriceDraft } from '../../catalog/price-draft.ts';
import type { Sentence } from '../../core/sentence.ts';
import type { TrialResult } from '../../generate/trial.ts';
import type { CheckedText } from '../../operations/catalog-text.ts';
import type { comparisonRecord } from '../../operations/price-preview.ts';
import type { priceSheet } from '../../operations/price-sheet.ts';
import type { Published } from '../../operations/publish-catalog.ts';
import type { catalogRecord, checkRecord } from '../operator/catalog.ts';
import type { catalogFileRecord } from '../operator/catalog-file.ts';
import type { editedText, entryRecord } from '../operator/catalog-forms.ts';
import type { planRecord } from '../operator/plans.ts';

export type ModelPricesRecord = ReturnType<typeof priceSheet>['models'][number];

export type PricePeriodRecord = ModelPricesRecord['prices'][number];

export type PriceBookRecord = {
  readonly at: string;
  readonly models: readonly ModelPricesRecord[];
  readonly usd_per_million: string;
  readonly file: ReturnType<typeof catalogFileRecord>;
};

export type DraftPeriod = NonNullable<PriceDraft['add']>[number];

/** The text of the file, with marks in place of its secrets. */
export type CatalogTextRecord = {
  readonly text: string;
  /** The digest of the file; publishing must send it back. */
  readonly based_on: string;
  /** The text before the last publication; null where there is none. */
  readonly previous: string | null;
  readonly file: PriceBookRecord['file'];
};

export type TextCheckRecord = Pick<
  CheckedText,
  'problems' | 'warnings' | 'standing' | 'difference'
> & {
  readonly ok: boolean;
  readonly based_on: string;
  /** The entries that differ from the file. */
  readonly summary: readonly Sentence[];
};

export type { CatalogEntry, CatalogEntryKind, EntryField };

/** What a form starts with. */
export type EntryRecord = ReturnType<typeof entryRecord>;

export type EntryEditRecord = ReturnType<typeof editedText>;

export type UpstreamTestRecord = {
  readonly results: readonly TrialResult[];
  /** Empty unless the draft has to be corrected first. */
  readonly problems: TextCheckRecord['problems'];
};

export type OperatorPlanRecord = ReturnType<typeof planRecord>;

export type PlansRecord = {
  readonly plans: readonly OperatorPlanRecord[];
  readonly file: PriceBookRecord['file'];
};

export type PreviewRecord = ReturnType<typeof comparisonRecord> & {
  readonly from: string;
  readonly to: string;
  readonly prices_at: string | null;
};

export type PreviewSumRecord = PreviewRecord['totals'];

export type PublishedRecord = Published & {
  /** Whether the server uses it now; otherwise `problems` has the reasons. */
  readonly in_force: boolean;
  readonly problems: readonly Sentence[];
};

export type CatalogRecord = ReturnType<typeof catalogRecord>;

export type CatalogCheckRecord = ReturnType<typeof checkRecord>;
