// Forms for the models, upstreams and plans of the catalog file: what they start with, the check of a
// draft, its publication, and a test of an upstream. Literal keys never leave the server.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { Place } from '../../catalog/disabled.ts';
import { type CatalogEntry, entriesOf } from '../../catalog/entries.ts';
import type { FoundCatalog } from '../../catalog/source.ts';
import { plainDocument } from '../../catalog/toml-edit.ts';
import { isObject } from '../../core/json.ts';
import type { Catalog } from '../../core/model.ts';
import { accountsByPlan } from '../../identity/accounts.ts';
import { auditChange, type Change } from '../../identity/audit.ts';
import {
  type EntryDraft,
  type EntryFacts,
  type PreparedEntry,
  prepareEntry,
  publishEntry,
} from '../../operations/catalog-entries.ts';
import { trialCandidates } from '../../operations/upstreams.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { invalidRequest, notFound } from '../edge/error.ts';
import { type OperatorRoutes, oneOf, sessionRoute, stepUpRoute, viewRoute } from '../edge/route.ts';
import type {
  EntryCheckRecord,
  EntryPublishedRecord,
  PlansRecord,
  UpstreamTestRecord,
} from '../records/operator-entries.ts';
import { catalogFileRecord, orRefused, takeUp } from './catalog-file.ts';
import { changeOf } from './dependencies.ts';
import { entryRecord, isBuiltIn, planRecord } from './entry-records.ts';

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

export function entryRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { catalog, machine, clock, store } = dependencies;

  const accounts = async () => new Map(await accountsByPlan(store.database));

  async function facts(): Promise<EntryFacts> {
    return { nowMs: clock(), reserved: machine.settings, accounts: await accounts() };
  }

  async function prepare(found: FoundCatalog, draft: EntryDraft): Promise<PreparedEntry> {
    const known = await facts();
    return orRefused(() => prepareEntry(found, draft, known));
  }

  /** Outside of the running server's health, so that a draft never affects customers. */
  async function testPlace(drafted: Catalog, place: Place, change: Change) {
    const [candidate] = trialCandidates(drafted, place, clock());
    if (candidate === undefined) throw notFound('upstream');
    const results = await machine.trial(candidate);
    const { upstream } = candidate;
    await change.database.transaction(() =>
      auditChange(change, 'upstream.tested', upstream.id, {
        base_url: upstream.dialect === 'demo' ? null : upstream.baseUrl,
        succeeded: results.filter(({ ok }) => ok).length,
        failed: results.filter(({ ok }) => !ok).length,
      }),
    );
    return results;
  }

  return [
    viewRoute({
      path: '/catalog/plans',
      async handle(): Promise<PlansRecord> {
        const onPlan = await accounts();
        const inFile = entriesOf(documentOrEmpty(machine.findCatalog), 'plan');
        const plans = [...catalog().plans.values()].map((plan) =>
          planRecord(plan, inFile.has(plan.slug), onPlan.get(plan.slug) ?? 0),
        );
        return { plans, file: catalogFileRecord(dependencies) };
      },
    }),
    viewRoute({
      path: '/catalog/entries/:kind',
      query: { id: Type.Optional(NAME) },
      async handle({ param, query: { id } }) {
        const kind = kindOf(param('kind'));
        const found = orRefused(machine.findCatalog);
        const document = orRefused(() => plainDocument(found.text));
        const entry = id === undefined ? undefined : entriesOf(document, kind).get(id);
        const isKnown = entry !== undefined || (kind === 'plan' && isBuiltIn(id));
        if (id !== undefined && !isKnown) throw notFound(kind);
        const onPlan = kind === 'plan' ? ((await accounts()).get(id ?? '') ?? 0) : 0;
        const { environment } = found;
        const file = catalogFileRecord(dependencies);
        return entryRecord({ kind, id, entry, document, environment, file, accounts: onPlan });
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
        const place = { upstream: String(draft.entry?.['id']), model: model || undefined };
        const drafted = result?.catalog ?? catalog();
        const change = changeOf(dependencies, actor);
        return { problems, results: ready ? await testPlace(drafted, place, change) : [] };
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
