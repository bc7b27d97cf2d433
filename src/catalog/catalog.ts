// Turns the text of a catalog file into one frozen snapshot, or into a list of everything that is
// wrong with it. Called at the start and on each reload; no I/O happens here, and no message holds
// a value of the file or the environment, because either may be a secret.

import { basename } from 'node:path';
import { readBaseUrl } from '../core/base-url.ts';
import { DAY_MS } from '../core/calendar.ts';
import type { Environment } from '../core/environment.ts';
import type { Catalog, Model, Upstream } from '../core/model.ts';
import { MICRO_DECIMALS, parseDecimal } from '../core/money.ts';
import { BUILT_IN_PLANS, type IncidentLimits, type Plan } from '../core/plan.ts';
import type { UpstreamProfile } from '../core/profile.ts';
import { toPriceBook } from './prices.ts';
import { profileNameOf, toProfiles } from './profiles.ts';
import { ruleProblems } from './rules.ts';
import {
  type CatalogDocument,
  documentProblems,
  isCatalogDocument,
  type ModelEntry,
  type PlanEntry,
  type Problem,
  type UpstreamEntry,
} from './schema.ts';
import { CatalogError, parseToml, substitute } from './source.ts';

type CatalogSource = {
  /** Only for messages; absent: the built-in catalog. */
  readonly path?: string;
  readonly text: string;
  /** Where `${NAME}` is looked up. */
  readonly environment: Environment;
  /** The day of this is the creation date of models that have none. */
  readonly nowMs: number;
};

/** Loads a catalog. Throws `CatalogError` with one line for each problem. */
export function loadCatalog({ path, text, environment, nowMs }: CatalogSource): Catalog {
  const label = path === undefined ? 'built-in catalog' : basename(path);
  const unset: Problem[] = [];
  const document = substitute(parseToml(text, label), environment, unset);
  const problems = firstOfEachPath([
    ...unset,
    ...documentProblems(document),
    ...ruleProblems(document),
  ]);
  if (problems.length > 0 || !isCatalogDocument(document)) {
    throw new CatalogError(problems.map((problem) => `${label}: ${problem.path}: ${problem.text}`));
  }
  return snapshot(document, nowMs);
}

function firstOfEachPath(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  return problems.filter(({ path }) => !seen.has(path) && seen.add(path));
}

function snapshot(document: CatalogDocument, nowMs: number): Catalog {
  const models = document.model.map((entry) => toModel(entry, nowMs));
  const byName = new Map<string, Model>();
  for (const model of models) {
    for (const name of [model.slug, ...model.aliases]) byName.set(name, model);
  }
  const {
    name = 'tollgate',
    usd_per_million = '1.00',
    minimum_hold = '1',
  } = document.service ?? {};
  const profiles = toProfiles(document.profile ?? {});
  return deepFreeze({
    serviceName: name,
    usdPerMillion: decimal(usd_per_million, MICRO_DECIMALS),
    minimumHold: decimal(minimum_hold, MICRO_DECIMALS),
    models,
    plans: toPlans(document.plan ?? {}),
    upstreams: new Map(document.upstream.map((entry) => [entry.id, toUpstream(entry, profiles)])),
    resolve: (slugOrAlias) => byName.get(slugOrAlias),
  });
}

function toModel(entry: ModelEntry, nowMs: number): Model {
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
    prices: toPriceBook(entry),
    servedBy: entry.served_by.map(({ upstream, model, weight = 1 }) => ({
      upstream,
      model,
      weight,
    })),
    fallbacks: entry.fallbacks ?? [],
    ...(limits === undefined ? {} : { incidentLimits: toLimits(limits) }),
  };
}

function toUpstream(
  entry: UpstreamEntry,
  profiles: ReadonlyMap<string, UpstreamProfile>,
): Upstream {
  const timeouts = {
    firstByteMs: (entry.first_byte_seconds ?? 60) * 1_000,
    idleMs: (entry.idle_seconds ?? 120) * 1_000,
    totalMs: (entry.total_seconds ?? 1_800) * 1_000,
  };
  const { id, dialect } = entry;
  if (dialect === 'demo') return { id, dialect, timeouts };
  const baseUrl = readBaseUrl(entry.base_url ?? '') ?? '';
  const profileName = profileNameOf({ ...entry, dialect });
  const profile = profiles.get(profileName);
  if (profile === undefined) throw new CatalogError(['an upstream has an unknown profile']);
  const remote = {
    id,
    baseUrl,
    apiKey: entry.api_key ?? '',
    profileName,
    cancelStopsBilling: entry.cancel_stops_billing ?? true,
    timeouts,
  };
  return profile.dialect === 'chat'
    ? { ...remote, dialect: 'chat', profile }
    : { ...remote, dialect: 'messages', profile };
}

function toPlans(entries: Readonly<Record<string, PlanEntry>>): Map<string, Plan> {
  const plans = new Map(BUILT_IN_PLANS.map((plan) => [plan.slug, plan]));
  for (const [slug, entry] of Object.entries(entries)) {
    const base = plans.get(slug) ?? { ...UNSET_PLAN, slug, name: slug };
    plans.set(slug, { ...base, ...toPlanFields(entry) });
  }
  return plans;
}

/** Never seen outside: the rules demand every limit of a plan that is not built in. */
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

/** An object with the one member, or with none when the value is absent. */
function present<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: V });
}

/** The schema has seen to it that the text is a decimal that fits. */
function decimal(value: string | number, decimals: number): bigint {
  const parsed = parseDecimal(String(value), decimals);
  if (parsed === undefined) throw new CatalogError(['an amount is not a decimal that fits']);
  return parsed;
}

/** Freezes objects, arrays and what maps hold. Maps and sets themselves are read-only by type. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) for (const member of value.values()) deepFreeze(member);
  else for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
