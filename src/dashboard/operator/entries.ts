// Forms for the models, upstreams and plans of the catalog file: what they start with, the check of a
// draft, its publication, and a test of an upstream. Literal keys never leave the server.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import { type CatalogEntry, entriesOf, referencesTo } from '../../catalog/entries.ts';
import { entryDefaults, entryFields } from '../../catalog/entry-fields.ts';
import { profileNames } from '../../catalog/profiles.ts';
import { masked, variablesOf } from '../../catalog/secrets.ts';
import type { FoundCatalog } from '../../catalog/source.ts';
import { plainDocument } from '../../catalog/toml-edit.ts';
import { isObject } from '../../core/json.ts';
import { BUILT_IN_PLANS } from '../../core/plan.ts';
import { accountsByPlan } from '../../identity/accounts.ts';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import {
  type EntryDraft,
  type EntryFacts,
  type PreparedEntry,
  prepareEntry,
  publishEntry,
} from '../../operations/catalog-entries.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { invalidRequest, notFound } from '../edge/error.ts';
import { oneOf, type Route, sessionRoute, stepUpRoute } from '../edge/route.ts';
import type {
  EntryCheckRecord,
  EntryPublishedRecord,
  EntryRecord,
  OperatorPlanRecord,
  PlansRecord,
  UpstreamTestRecord,
} from '../records/operator-entries.ts';
import { catalogFileRecord, orRefused, takeUp } from './catalog-file.ts';
import { changeOf } from './dependencies.ts';
import { testUpstream } from './upstream-test.ts';

const NAME = Type.String({ minLength: 1, maxLength: 128 });
const NAME_OR_NULL = Type.Optional(Type.Union([NAME, Type.Null()]));

const DRAFT = {
  kind: oneOf(['model', 'upstream', 'plan']),
  /** Null for a new entry. */
  id: NAME_OR_NULL,
  /** Null where the entry goes. */
  entry: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  from: NAME_OR_NULL,
};

export function entryRoutes(dependencies: MachineDependencies): readonly Route<SignedInOperator>[] {
  const { catalog, machine, clock, store } = dependencies;

  const accounts = async () => new Map(await accountsByPlan(store.database));

  async function facts(): Promise<EntryFacts> {
    return { nowMs: clock(), reserved: machine.settings, accounts: await accounts() };
  }

  async function prepare(found: FoundCatalog, draft: EntryDraft): Promise<PreparedEntry> {
    const known = await facts();
    return orRefused(() => prepareEntry(found, draft, known));
  }

  return [
    sessionRoute({
      method: 'GET',
      path: '/catalog/plans',
      permission: 'view',
      async handle(): Promise<PlansRecord> {
        const onPlan = await accounts();
        const inFile = entriesOf(documentOrEmpty(machine.findCatalog), 'plan');
        const plans = [...catalog().plans.values()].map(
          (plan): OperatorPlanRecord => ({
            id: plan.slug,
            object: 'plan',
            name: plan.name,
            is_built_in: BUILT_IN_PLANS.some(({ slug }) => slug === plan.slug),
            in_file: inFile.has(plan.slug),
            accounts: onPlan.get(plan.slug) ?? 0,
            requests_per_minute: plan.requestsPerMinute,
            tokens_per_minute: plan.tokensPerMinute,
            concurrent_requests: plan.concurrentRequests,
            max_context: plan.maxContext,
            max_api_keys: plan.maxApiKeys,
            daily_tokens: plan.dailyTokens ?? null,
            monthly_tokens: plan.monthlyTokens ?? null,
            models: plan.models,
          }),
        );
        return { plans, file: catalogFileRecord(dependencies) };
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/catalog/entries/:kind',
      permission: 'view',
      query: { id: Type.Optional(NAME) },
      async handle({ param, query: { id } }): Promise<EntryRecord> {
        const kind = kindOf(param('kind'));
        const found = orRefused(machine.findCatalog);
        const document = orRefused(() => plainDocument(found.text));
        const entry = id === undefined ? undefined : entriesOf(document, kind).get(id);
        const isBuiltIn = kind === 'plan' && BUILT_IN_PLANS.some(({ slug }) => slug === id);
        if (id !== undefined && entry === undefined && !isBuiltIn) throw notFound(kind);
        return {
          kind,
          id: id ?? null,
          entry: entry === undefined ? null : masked(entry),
          defaults: entryDefaults(kind, id),
          fields: entryFields(kind),
          file: catalogFileRecord(dependencies),
          names: {
            models: [...entriesOf(document, 'model').keys()],
            upstreams: [...entriesOf(document, 'upstream').keys()],
            profiles: profileNames(document['profile']),
          },
          variables: [...new Set(variablesOf(entry ?? {}))].map((name) => ({
            name,
            is_set: (found.environment[name] ?? '') !== '',
          })),
          used_by: id === undefined ? [] : referencesTo(document, kind, id),
          accounts: kind === 'plan' ? ((await accounts()).get(id ?? '') ?? 0) : 0,
        };
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/catalog/entries/check',
      permission: 'service.manage',
      body: DRAFT,
      async handle({ body }): Promise<EntryCheckRecord> {
        const prepared = await prepare(orRefused(machine.findCatalog), draftOf(body));
        const { result, basedOn, ...rest } = prepared;
        return { ok: result !== undefined, based_on: basedOn, ...rest };
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/catalog/entries/test',
      permission: 'service.manage',
      body: { ...DRAFT, model: Type.String({ maxLength: 256 }) },
      async handle({ body: { model, ...body }, actor }): Promise<UpstreamTestRecord> {
        const draft = draftOf(body);
        const { problems, elsewhere, result } = await prepare(
          orRefused(machine.findCatalog),
          draft,
        );
        // An unchanged form has no result, and the running catalog has its upstream.
        const ready = problems.length + elsewhere.length === 0;
        const id = String(draft.entry?.['id']);
        const tried = ready ? (result?.catalog ?? catalog()) : undefined;
        return {
          problems,
          results:
            tried === undefined
              ? []
              : await testUpstream(changeOf(dependencies, actor), machine.probe, tried, id, model),
        };
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/catalog/entries/publish',
      permission: 'service.manage',
      body: { ...DRAFT, based_on: Type.String({ maxLength: 64 }) },
      async handle({ body: { based_on, ...body }, actor }): Promise<EntryPublishedRecord> {
        const found = orRefused(machine.findCatalog);
        const draft = draftOf(body);
        const prepared = await prepare(found, draft);
        const { result } = prepared;
        const seen = {
          ...prepared,
          ...(result !== undefined && { result: { ...result, basedOn: based_on } }),
        };
        const published = await publishEntry(changeOf(dependencies, actor), found, draft, seen);
        return takeUp(dependencies, published);
      },
    }),
  ];
}

function kindOf(text: string): EntryDraft['kind'] {
  if (text === 'model' || text === 'upstream' || text === 'plan') return text;
  throw notFound('page');
}

function draftOf({ kind, id, entry, from }: Static<TObject<typeof DRAFT>>): EntryDraft {
  if (!isPlain(entry ?? {}, DEPTH_MAX)) throw invalidRequest('The entry is not valid.', 'entry');
  if ((id ?? null) === null && entry === null) {
    throw invalidRequest('The entry is missing.', 'entry');
  }
  return { kind, id: id ?? undefined, entry: entry ?? undefined, from: from ?? undefined };
}

const DEPTH_MAX = 8;

/** Whether a value has a form in TOML. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'object' && value !== null) {
    return depth > 0 && Object.values(value).every((each) => isPlain(each, depth - 1));
  }
  return typeof value === 'number'
    ? Number.isFinite(value)
    : ['string', 'boolean'].includes(typeof value);
}

function documentOrEmpty(find: () => FoundCatalog): CatalogEntry {
  try {
    const document = plainDocument(find().text);
    return isObject(document) ? document : {};
  } catch {
    return {};
  }
}
