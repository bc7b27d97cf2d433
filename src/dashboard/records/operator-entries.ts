// The console's records about forms for models, upstreams and plans.

import type { CatalogEntry, CatalogEntryKind } from '../../catalog/entries.ts';
import type { EntryField } from '../../catalog/entry-fields.ts';
import type { TrialResult } from '../../generate/trial.ts';
import type { PreparedEntry } from '../../operations/catalog-entries.ts';
import type { entryRecord, planRecord } from '../operator/entry-records.ts';
import type { PriceBookRecord, PublishedRecord } from './operator-catalog.ts';

export type { CatalogEntry, CatalogEntryKind, EntryField };

/** What a form starts with. */
export type EntryRecord = ReturnType<typeof entryRecord>;

export type EntryCheckRecord = Pick<PreparedEntry, 'summary' | 'difference' | 'elsewhere'> & {
  readonly ok: boolean;
  readonly problems: readonly { readonly path: string; readonly text: string }[];
  readonly based_on: string;
  readonly snippet: string;
};

export type EntryPublishedRecord = PublishedRecord;

export type UpstreamTestRecord = {
  readonly results: readonly TrialResult[];
  /** Empty unless the form has to be corrected first. */
  readonly problems: readonly { readonly path: string; readonly text: string }[];
};

export type OperatorPlanRecord = ReturnType<typeof planRecord>;

export type PlansRecord = {
  readonly plans: readonly OperatorPlanRecord[];
  readonly file: PriceBookRecord['file'];
};
