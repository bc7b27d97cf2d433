// Chooses the profile of an upstream and of each of its models: what the operator names, else what
// the vendor and the model's name say.

import { isDeepStrictEqual } from 'node:util';
import { BUILT_IN_PROFILES } from '../core/built-in-profiles.ts';
import { GENERATIONS, responsesProfile, vendorAt } from '../core/generations.ts';
import type { ProfileChoice } from '../core/model.ts';
import type { UpstreamProfile } from '../core/profile.ts';
import { textAt } from './document.ts';
import { changed } from './profiles.ts';
import type { PlacementEntry, UpstreamEntry } from './schema.ts';

type Dialect = UpstreamProfile['dialect'];

/** All that the choice depends on: every profile by name, and the tables of the catalog. */
export type Profiles = {
  readonly all: ReadonlyMap<string, UpstreamProfile>;
  readonly tables: ReadonlyMap<string, unknown>;
};

type Chosen = { readonly profile: UpstreamProfile; readonly choice: ProfileChoice };

/**
 * The name of an upstream's profile. A vendor's name stands for its profile of the upstream's
 * dialect: with `dialect = "responses"`, `openai` is `openai-responses`. Without a name, the host
 * names the vendor, else the dialect's default serves.
 */
export function profileNameOf(
  upstream: Pick<UpstreamEntry, 'dialect' | 'profile' | 'base_url'>,
  dialectOf: (name: string) => Dialect | undefined,
): string | undefined {
  const { dialect } = upstream;
  if (dialect === 'demo') return undefined;
  const vendor = vendorAt(URL.parse(upstream.base_url ?? '')?.hostname ?? '');
  const name = upstream.profile ?? vendor;
  if (name === undefined || dialect === undefined) return name ?? dialect;
  if (dialectOf(name) === dialect) return name;
  const ofDialect = `${name}-${dialect}`;
  if (dialectOf(ofDialect) === dialect) return ofDialect;
  return upstream.profile ?? dialect;
}

/** The profile of a model that the operator has not named one for. */
function generationOf(
  entry: UpstreamEntry,
  name: string,
  upstreamModel: string,
  { all, tables }: Profiles,
): Chosen | undefined {
  const own = all.get(name);
  const model = upstreamModel.toLowerCase();
  const mayChange = entry.dialect === undefined && !tables.has(name);
  const responses = mayChange ? responsesProfile(name, model) : undefined;
  const from = responses ?? name;
  const root = rootOf(from, tables);
  const row = GENERATIONS.find(({ of, models }) => of.includes(root) && models.test(model));
  const profile = all.get(row?.profile ?? from);
  if (own === undefined || profile === undefined) return undefined;
  if (row === undefined) {
    if (responses === undefined) return undefined;
    const reason = 'tools with thinking need Responses since GPT-5.4';
    return { profile, choice: { name: responses, reason } };
  }
  const [family = ''] = row.of;
  const like = responses === undefined ? BUILT_IN_PROFILES.get(family) : undefined;
  const own_ = like === undefined ? {} : differences(own, like);
  const isOwn = Object.keys(own_).length > 0;
  return {
    profile: { ...profile, ...own_ } as UpstreamProfile,
    choice: { name: isOwn ? `${name} with ${row.profile}` : row.profile, reason: row.reason },
  };
}

/** The profile of a model at an upstream. The entries satisfy all rules. */
export function chooseProfile(
  entry: UpstreamEntry,
  placement: Pick<PlacementEntry, 'model' | 'profile'>,
  profiles: Profiles,
): Chosen | undefined {
  const { all } = profiles;
  const set = placement.profile;
  const named = typeof set === 'string' ? set : textAt(set, 'base');
  const dialectOf = (name: string): Dialect | undefined => all.get(name)?.dialect;
  const name = profileNameOf(named === undefined ? entry : { ...entry, profile: named }, dialectOf);
  const own = all.get(name ?? '');
  if (name === undefined || own === undefined) return undefined;
  const chosen: Chosen =
    named === undefined
      ? (generationOf(entry, name, placement.model, profiles) ?? {
          profile: own,
          choice: { name, reason: 'the profile of the upstream' },
        })
      : { profile: own, choice: { name, reason: 'the catalog names it for this model' } };
  if (typeof set !== 'object') return chosen;
  return {
    profile: changed(chosen.profile, set),
    choice: {
      name: `${chosen.choice.name}, changed`,
      reason: 'the catalog changes it for this model',
    },
  };
}

/** The built-in profile at the end of the bases of a profile. */
function rootOf(name: string, tables: ReadonlyMap<string, unknown>): string {
  let root = name;
  while (!BUILT_IN_PROFILES.has(root)) {
    const base = textAt(tables.get(root), 'base');
    if (base === undefined) return root;
    root = base;
  }
  return root;
}

/** The members of a profile that differ from another one. */
function differences(one: UpstreamProfile, other: UpstreamProfile): object {
  return Object.fromEntries(
    Object.entries(one).filter(
      ([name, value]) => !isDeepStrictEqual(value, Reflect.get(other, name)),
    ),
  );
}
