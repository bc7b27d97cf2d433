// Parses a catalog file into one frozen snapshot, or a list of all its problems. Used at the start
// and on each reload. Does no I/O. Messages contain no value from the file or the environment,
// since any may be a secret.

import { basename } from 'node:path';
import { Value } from '@sinclair/typebox/value';
import { DAY_MS } from '../core/calendar.ts';
import type { Environment } from '../core/environment.ts';
import type { Catalog, Model } from '../core/model.ts';
import { MICRO_DECIMALS, micro, parseDecimal, usdRate } from '../core/money.ts';
import { BUILT_IN_PLANS, type IncidentLimits, type Plan } from '../core/plan.ts';
import { plainly } from '../core/sentence.ts';
import type { Logo } from '../core/service.ts';
import { toPriceBook } from './prices.ts';
import type { Profiles } from './profile-choice.ts';
import { toProfiles } from './profiles.ts';
import { ruleProblems } from './rules.ts';
import {
  type CatalogDocument,
  DocumentSchema,
  type ModelEntry,
  type PlanEntry,
  type Problem,
  shapeProblems,
  type UpstreamEntry,
} from './schema.ts';
import { toService } from './service.ts';
import { CatalogError, inFile, parseToml, substitute } from './source.ts';
import { toPlacement, toUpstream } from './upstreams.ts';

type CatalogSource = {
  /** Only for messages; absent for the built-in catalog. */
  readonly path?: string;
  readonly text: string;
  /** Resolves `${NAME}`. */
  readonly environment: Environment;
  /** Its day is the default creation date of models. */
  readonly nowMs: number;
  /** Reads the logo; throws `CatalogError`. Absent where logos are not shown. */
  readonly readLogo?: (file: string) => Logo | undefined;
};

/** Loads a catalog. Throws `CatalogError` with all problems. */
export function loadCatalog(source: CatalogSource): Catalog {
  const { path, text, environment } = source;
  const label = path === undefined ? 'built-in catalog' : basename(path);
  const { shaped, problems } = checkDocument(parseToml(text, label), environment);
  if (problems.length > 0 || shaped === undefined) {
    throw new CatalogError(problems.map((problem) => inFile(label, problem)));
  }
  return snapshot(shaped, source);
}

/** A parsed catalog with its variables filled in, where it has the right shape, and its problems. */
export function checkDocument(parsed: unknown, environment: Environment) {
  const unset: Problem[] = [];
  const document = substitute(parsed, environment, unset);
  const shaped = Value.Check(DocumentSchema, document) ? document : undefined;
  const problems = firstOfEachPath([
    ...unset,
    // Finding the problems is slower than seeing that there are none.
    ...(shaped === undefined ? shapeProblems(document, DocumentSchema, '') : []),
    ...ruleProblems(document),
  ]);
  return { shaped, problems };
}

function firstOfEachPath(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  return problems.filter(({ path }) => !seen.has(path) && seen.add(path));
}

function snapshot(document: CatalogDocument, { nowMs, readLogo }: CatalogSource): Catalog {
  const tables = document.profile ?? {};
  const profiles = { all: toProfiles(tables), tables: new Map(Object.entries(tables)) };
  const upstreams = new Map(
    document.upstream.map((entry) => [entry.id, toUpstream(entry, profiles)]),
  );
  const entries = new Map(document.upstream.map((entry) => [entry.id, entry]));
  const models = document.model.map((entry) => toModel(entry, entries, profiles, nowMs));
  const byName = new Map<string, Model>();
  for (const model of models) {
    for (const name of [model.slug, ...model.aliases]) byName.set(name, model);
  }
  const {
    name = 'tollgate',
    usd_per_million = '1.00',
    minimum_hold = '1',
  } = document.service ?? {};
  return deepFreeze({
    serviceName: name,
    service: toService(document.service ?? {}, readLogo ?? (() => undefined)),
    usdPerMillion: usdRate(decimal(usd_per_million, MICRO_DECIMALS)),
    minimumHold: micro(decimal(minimum_hold, MICRO_DECIMALS)),
    models,
    plans: toPlans(document.plan ?? {}),
    upstreams,
    resolve: (slugOrAlias) => byName.get(slugOrAlias),
  });
}

function toModel(
  entry: ModelEntry,
  upstreams: ReadonlyMap<string, UpstreamEntry>,
  profiles: Profiles,
  nowMs: number,
): Model {
  const createdMs = entry.created === undefined ? nowMs : Date.parse(entry.created);
  const limits = entry.incident_limits;
  return {
    slug: entry.slug,
    aliases: entry.aliases ?? [],
    displayName: entry.display_name ?? entry.slug,
    description: entry.description ?? '',
    created: Math.floor(createdMs / DAY_MS) * (DAY_MS / 1_000),
    contextWindow: entry.context_window,
    maxOutput: entry.max_output,
    features: new Set(entry.features ?? ['tools', 'json']),
    ...(entry.features !== undefined && { statesFeatures: true }),
    ...present('imageFactor', entry.image_factor),
    ...present('tokensPerSecond', entry.tokens_per_second),
    prices: toPriceBook(entry),
    servedBy: entry.served_by.map((placement) => toPlacement(placement, upstreams, profiles)),
    fallbacks: entry.fallbacks ?? [],
    ...(limits === undefined ? {} : { incidentLimits: toLimits(limits) }),
  };
}

function toPlans(entries: Readonly<Record<string, PlanEntry>>): Map<string, Plan> {
  const plans = new Map(BUILT_IN_PLANS.map((plan) => [plan.slug, plan]));
  for (const [slug, entry] of Object.entries(entries)) {
    const base = plans.get(slug) ?? { ...UNSET_PLAN, slug, name: slug };
    plans.set(slug, { ...base, ...toPlanFields(entry) });
  }
  return plans;
}

/** Never used as is: the rules require every limit of a plan that is not built in. */
const UNSET_PLAN = {
  requestsPerMinute: 0,
  tokensPerMinute: 0,
  concurrentRequests: 0,
  maxContext: 0,
  maxApiKeys: 0,
  models: ['*'],
};

function toPlanFields(entry: PlanEntry): Partial<Plan> {
  return {
    ...toLimits(entry),
    ...present('name', entry.name),
    ...present('maxContext', entry.max_context),
    ...present('maxApiKeys', entry.max_api_keys),
    ...present('dailyTokens', entry.daily_tokens),
    ...present('monthlyTokens', entry.monthly_tokens),
    ...present('models', entry.models),
  };
}

function toLimits(entry: NonNullable<ModelEntry['incident_limits']>): IncidentLimits {
  return {
    ...present('requestsPerMinute', entry.requests_per_minute),
    ...present('tokensPerMinute', entry.tokens_per_minute),
    ...present('concurrentRequests', entry.concurrent_requests),
  };
}

/** An object with one member, or none if the value is absent. */
function present<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: V });
}

/** The schema guarantees a decimal that fits. */
function decimal(value: string | number, decimals: number): bigint {
  const parsed = parseDecimal(String(value), decimals);
  if (parsed === undefined)
    throw new CatalogError([plainly('an amount is not a decimal that fits')]);
  return parsed;
}

/**
 * Freezes objects, arrays and the contents of maps. Maps, sets and bytes are read-only by type.
 */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (ArrayBuffer.isView(value)) return value;
  if (value instanceof Map) for (const member of value.values()) deepFreeze(member);
  else for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
