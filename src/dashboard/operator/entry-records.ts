// The records of the forms of the catalog file: a plan in the list, and what a form starts with.

import {
  type CatalogEntry,
  type CatalogEntryKind,
  entriesOf,
  referencesTo,
} from '../../catalog/entries.ts';
import { entryDefaults, entryFields } from '../../catalog/entry-fields.ts';
import { profileNames } from '../../catalog/profiles.ts';
import { masked, variablesOf } from '../../catalog/secrets.ts';
import type { FoundCatalog } from '../../catalog/source.ts';
import { BUILT_IN_PLANS, type Plan } from '../../core/plan.ts';
import type { catalogFileRecord } from './catalog-file.ts';

export function isBuiltIn(plan: string | undefined): boolean {
  return BUILT_IN_PLANS.some(({ slug }) => slug === plan);
}

export function planRecord(plan: Plan, inFile: boolean, accounts: number) {
  return {
    id: plan.slug,
    object: 'plan',
    name: plan.name,
    is_built_in: isBuiltIn(plan.slug),
    /** Whether the file has an entry for it. */
    in_file: inFile,
    accounts,
    requests_per_minute: plan.requestsPerMinute,
    tokens_per_minute: plan.tokensPerMinute,
    concurrent_requests: plan.concurrentRequests,
    max_context: plan.maxContext,
    max_api_keys: plan.maxApiKeys,
    daily_tokens: plan.dailyTokens ?? null,
    monthly_tokens: plan.monthlyTokens ?? null,
    models: plan.models,
  } as const;
}

export function entryRecord({
  kind,
  id,
  entry,
  document,
  environment,
  file,
  accounts,
}: {
  readonly kind: CatalogEntryKind;
  readonly id: string | undefined;
  readonly entry: CatalogEntry | undefined;
  readonly document: CatalogEntry;
  readonly environment: FoundCatalog['environment'];
  readonly file: ReturnType<typeof catalogFileRecord>;
  readonly accounts: number;
}) {
  return {
    kind,
    /** Null for a form without an entry. */
    id: id ?? null,
    /** Literal keys are replaced by marks such as `<kept 1>`. Null where the file has none. */
    entry: entry === undefined ? null : masked(entry),
    defaults: entryDefaults(kind, id),
    fields: entryFields(kind),
    file,
    /** Names that fields can refer to. */
    names: {
      models: [...entriesOf(document, 'model').keys()],
      upstreams: [...entriesOf(document, 'upstream').keys()],
      profiles: profileNames(document['profile']),
    },
    /** The variables that its keys refer to, and whether they are set. */
    variables: [...new Set(variablesOf(entry ?? {}))].map((name) => ({
      name,
      is_set: (environment[name] ?? '') !== '',
    })),
    /** Where it is used; it can be removed only from an empty list. */
    used_by: id === undefined ? [] : referencesTo(document, kind, id),
    accounts,
  };
}
