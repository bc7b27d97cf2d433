// The console's records about forms for models, upstreams and plans.

import type { CatalogEntry, CatalogEntryKind } from '../../catalog/entries.ts';
import type { EntryField } from '../../catalog/entry-fields.ts';
import type { PreparedEntry } from '../../operations/catalog-entries.ts';
import type { PriceBookRecord, PublishedRecord } from './operator-catalog.ts';

export type { CatalogEntry, CatalogEntryKind, EntryField };

/** What a form starts with. */
export type EntryRecord = {
  readonly kind: CatalogEntryKind;
  /** Null for a form without an entry. */
  readonly id: string | null;
  /** Literal keys are replaced by marks such as `<kept 1>`. Null where the file has none. */
  readonly entry: CatalogEntry | null;
  readonly defaults: CatalogEntry;
  readonly fields: readonly EntryField[];
  readonly file: PriceBookRecord['file'];
  /** Names that fields can refer to. */
  readonly names: {
    readonly models: readonly string[];
    readonly upstreams: readonly string[];
    readonly profiles: readonly { readonly name: string; readonly dialect: string }[];
  };
  /** The variables that its keys refer to, and whether they are set. */
  readonly variables: readonly { readonly name: string; readonly is_set: boolean }[];
  /** Where it is used; it can be removed only from an empty list. */
  readonly used_by: readonly { readonly kind: string; readonly id: string }[];
  readonly accounts: number;
};

export type EntryCheckRecord = Pick<PreparedEntry, 'summary' | 'difference' | 'elsewhere'> & {
  readonly ok: boolean;
  readonly problems: readonly { readonly path: string; readonly text: string }[];
  readonly based_on: string;
  readonly snippet: string;
};

export type EntryPublishedRecord = PublishedRecord;

/** One key of the tested upstream. */
export type UpstreamTestRecord = {
  readonly results: readonly {
    readonly credential: string;
    readonly ok: boolean;
    readonly status: number | null;
    readonly detail: string | null;
    readonly duration_ms: number;
  }[];
  /** Empty unless the form has to be corrected first. */
  readonly problems: readonly { readonly path: string; readonly text: string }[];
};

export type OperatorPlanRecord = {
  readonly id: string;
  readonly object: 'plan';
  readonly name: string;
  readonly is_built_in: boolean;
  /** Whether the file has an entry for it. */
  readonly in_file: boolean;
  readonly accounts: number;
  readonly requests_per_minute: number;
  readonly tokens_per_minute: number;
  readonly concurrent_requests: number;
  readonly max_context: number;
  readonly max_api_keys: number;
  readonly daily_tokens: number | null;
  readonly monthly_tokens: number | null;
  readonly models: readonly string[];
};

export type PlansRecord = {
  readonly plans: readonly OperatorPlanRecord[];
  readonly file: PriceBookRecord['file'];
};
