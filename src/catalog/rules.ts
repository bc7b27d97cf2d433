// Catalog rules that a schema cannot express: duplicate or unknown names, and values that
// contradict each other. Misshapen values are skipped, but the names of their entries count as
// known, so that one mistake gives one line.

import {
  isProxyUrl,
  PROXY_URL_EXPECTS,
  readUpstreamUrl,
  UPSTREAM_URL_EXPECTS,
} from '../core/base-url.ts';
import { isDay } from '../core/instant.ts';
import { BUILT_IN_PLANS } from '../core/plan.ts';
import { isLinkLocal } from '../core/private-address.ts';
import type { UpstreamProfile } from '../core/profile.ts';
import { type Sentence, say } from '../core/sentence.ts';
import { listAt, sound, tableAt, textAt } from './document.ts';
import { priceProblems, termProblems } from './prices.ts';
import { profileNameOf, responsesFor } from './profile-choice.ts';
import {
  dialectOf,
  namedProfileProblems,
  placementProfileProblems,
  profileProblems,
} from './profiles.ts';
import {
  didYouMean,
  type ModelEntry,
  ModelSchema,
  missing,
  mustBe,
  nameProblems,
  type PlanEntry,
  PlanSchema,
  type Problem,
  tomlKey,
  type UpstreamEntry,
  UpstreamSchema,
} from './schema.ts';
import { serviceProblems } from './service.ts';

/** All broken rules in a document of any shape. */
export function ruleProblems(document: unknown): Problem[] {
  const upstreams = listAt(document, 'upstream');
  const models = listAt(document, 'model');
  const upstreamIds = upstreams.flatMap((upstream) => textAt(upstream, 'id') ?? []);
  const slugs = models.flatMap((model) => textAt(model, 'slug') ?? []);
  const profiles = tableAt(document, 'profile');
  return [
    ...clashes(
      upstreams.flatMap((upstream, index) => named(upstream, 'id', `upstream[${index}].id`)),
    ),
    ...upstreams.flatMap((upstream, index) =>
      upstreamRules(sound(UpstreamSchema, upstream), `upstream[${index}]`, profiles),
    ),
    ...clashes(models.flatMap(modelNames)),
    ...models.flatMap((model, index) => [
      ...modelRules(sound(ModelSchema, model), `model[${index}]`, slugs, upstreamIds),
      ...placementRules(sound(ModelSchema, model), `model[${index}]`, upstreams, profiles),
      ...priceProblems(model, `model[${index}]`),
    ]),
    ...tableAt(document, 'plan').flatMap(([slug, plan]) => [
      ...nameProblems(slug, `plan.${tomlKey(slug)}`),
      ...planRules(slug, sound(PlanSchema, plan), slugs),
    ]),
    ...profileProblems(profiles),
    ...serviceProblems(document),
  ];
}

type Name = { readonly path: string; readonly name: string };

/** Slugs and aliases share one namespace, because a request may use either. */
function modelNames(model: unknown, index: number): Name[] {
  const path = `model[${index}]`;
  const aliases = listAt(model, 'aliases').flatMap((alias, at) =>
    typeof alias === 'string' ? [{ path: `${path}.aliases[${at}]`, name: alias }] : [],
  );
  return [...named(model, 'slug', `${path}.slug`), ...aliases];
}

function clashes(names: readonly Name[]): Problem[] {
  const firstPath = new Map<string, string>();
  return names.flatMap(({ path, name }) => {
    const taken = firstPath.get(name);
    if (taken !== undefined) return [{ path, text: say('is the same name as {taken}', { taken }) }];
    firstPath.set(name, path);
    return [];
  });
}

/** Keys that only upstreams on the network have. */
const REMOTE_KEYS = [
  'base_url',
  'api_key',
  'api_keys',
  'aws',
  'google',
  'profile',
  'cancel_stops_billing',
  'connect_seconds',
  'transport',
  'proxy',
  'allow_link_local',
] as const satisfies readonly (keyof UpstreamEntry)[];

const NOT_FOR_DEMO = say('is not used by the demo dialect; remove it');

/** The ways to authenticate, of which an upstream has one or none. */
const AUTH_KEYS = ['api_key', 'api_keys', 'aws', 'google'] as const;

function upstreamRules(
  upstream: Partial<UpstreamEntry>,
  path: string,
  profiles: readonly [string, unknown][],
): Problem[] {
  const { dialect, profile, proxy } = upstream;
  if (dialect === undefined && profile === undefined) {
    const text = say(
      'is missing; must be "chat", "messages", "responses" or "demo", where no profile says it',
    );
    return [{ path: `${path}.dialect`, text }];
  }
  if (dialect === 'demo') {
    const set = REMOTE_KEYS.filter((key) => upstream[key] !== undefined);
    return set.map((key) => ({ path: `${path}.${key}`, text: NOT_FOR_DEMO }));
  }
  const spoken = dialect ?? dialectOf(profile ?? '', new Map(profiles));
  const problems = baseUrlRules(upstream, spoken, `${path}.base_url`);
  const refuse = (key: string, text: Sentence) => problems.push({ path: `${path}.${key}`, text });
  if (proxy !== undefined && !isProxyUrl(proxy)) refuse('proxy', mustBe(PROXY_URL_EXPECTS));
  const [kept, ...others] = AUTH_KEYS.filter((key) => upstream[key] !== undefined);
  for (const key of others) {
    refuse(key, say('must not stand beside {kept}; keep one of the two', { kept: kept ?? '' }));
  }
  if (profile === undefined) return problems;
  return [...problems, ...namedProfileProblems(profile, dialect, `${path}.profile`, profiles)];
}

function baseUrlRules(
  { base_url: baseUrl, allow_link_local: allowed }: Partial<UpstreamEntry>,
  dialect: UpstreamProfile['dialect'] | undefined,
  path: string,
): Problem[] {
  const url = readUpstreamUrl(baseUrl ?? '');
  if (url === undefined) {
    const found = baseUrl === undefined ? missing : mustBe;
    return [{ path, text: found(UPSTREAM_URL_EXPECTS) }];
  }
  if (allowed !== true && isLinkLocal(URL.parse(url)?.hostname ?? '')) {
    const text = say(
      'must not be a link-local or metadata address; where this is meant, set allow_link_local = true',
    );
    return [{ path, text }];
  }
  if (dialect !== 'messages' || !/\/v1(?:\?|$)/.test(url)) return [];
  const text = say('must not end with /v1: the messages dialect adds /v1/messages itself');
  return [{ path, text }];
}

function modelRules(
  model: Partial<ModelEntry>,
  path: string,
  slugs: readonly string[],
  upstreamIds: readonly string[],
): Problem[] {
  const problems: Problem[] = [];
  const refuse = (key: string, text: Sentence) => problems.push({ path: `${path}.${key}`, text });
  const { max_output: maxOutput = 0, context_window: contextWindow = maxOutput } = model;
  if (maxOutput > contextWindow) {
    refuse('max_output', say('must not be above context_window'));
  }
  if (model.created !== undefined && !isDay(model.created)) {
    refuse('created', say('must be a day that the calendar has'));
  }
  for (const [index, { upstream, cost = {} }] of (model.served_by ?? []).entries()) {
    problems.push(...termProblems(cost, `${path}.served_by[${index}].cost`));
    if (upstreamIds.includes(upstream)) continue;
    refuse(`served_by[${index}].upstream`, unknownName('upstream', upstream, upstreamIds));
  }
  for (const [index, fallback] of (model.fallbacks ?? []).entries()) {
    if (fallback === model.slug) {
      refuse(`fallbacks[${index}]`, say('must not be the model itself'));
    } else if (!slugs.includes(fallback)) {
      refuse(`fallbacks[${index}]`, unknownName('model', fallback, slugs));
    }
  }
  return problems;
}

/** The profiles that a model names at its upstreams. Chat and Responses have the same address. */
function placementRules(
  { served_by: placements = [] }: Partial<ModelEntry>,
  path: string,
  upstreams: readonly unknown[],
  profiles: readonly [string, unknown][],
): Problem[] {
  const tables = new Map(profiles);
  const dialectFor = (name: string) => dialectOf(name, tables);
  return placements.flatMap(({ upstream: id, model, profile }, index) => {
    if (profile === undefined) return [];
    const at = `${path}.served_by[${index}].profile`;
    const found = upstreams.find((each) => textAt(each, 'id') === id);
    const of = sound(UpstreamSchema, found ?? {});
    if (of.dialect === 'demo') return [{ path: at, text: NOT_FOR_DEMO }];
    const spoken = of.dialect ?? dialectFor(of.profile ?? '');
    const base = typeof profile === 'string' ? profile : textAt(profile, 'base');
    const name =
      profileNameOf(base === undefined ? of : { ...of, profile: base }, dialectFor) ?? '';
    const own = base === undefined ? responsesFor(of, name, model, tables) : undefined;
    const used = dialectFor(own ?? name);
    const shares = used !== undefined && (used === 'messages') === (spoken === 'messages');
    return placementProfileProblems(profile, of.profile, shares ? used : spoken, at, profiles);
  });
}

const PLAN_LIMITS = [
  'requests_per_minute',
  'tokens_per_minute',
  'concurrent_requests',
  'max_context',
  'max_api_keys',
] as const satisfies readonly (keyof PlanEntry)[];

function planRules(slug: string, plan: PlanEntry, slugs: readonly string[]): Problem[] {
  const path = `plan.${tomlKey(slug)}`;
  const problems: Problem[] = [];
  if (!BUILT_IN_PLANS.some((builtIn) => builtIn.slug === slug)) {
    const absent = PLAN_LIMITS.filter((key) => plan[key] === undefined);
    const text = say('is missing; plan {plan} is not built in, so it needs every limit', {
      plan: tomlKey(slug),
    });
    problems.push(...absent.map((key) => ({ path: `${path}.${key}`, text })));
  }
  for (const [index, model] of (plan.models ?? []).entries()) {
    if (model === '*' || slugs.includes(model)) continue;
    const text = say('{problem} ("*" stands for all)', {
      problem: unknownName('model', model, slugs),
    });
    problems.push({ path: `${path}.models[${index}]`, text });
  }
  return problems;
}

/** Omits the name itself: it may come from a variable that holds a secret. */
function unknownName(kind: 'model' | 'upstream', name: string, known: readonly string[]): Sentence {
  const key = kind === 'model' ? 'slug' : 'id';
  return say('is not the {key} of any [[{kind}]]{hint}', {
    key,
    kind,
    hint: didYouMean(name, known),
  });
}

function named(entry: unknown, key: string, path: string): Name[] {
  const name = textAt(entry, key);
  return name === undefined ? [] : [{ path, name }];
}
