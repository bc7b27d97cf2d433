// Chooses the profile of an upstream and of each of its models: what the operator names, else what
// the vendor and the model's name say.

import { isDeepStrictEqual } from 'node:util';
import { BUILT_IN_PROFILES } from '../core/built-in-profiles.ts';
import { GENERATIONS, responsesProfile, vendorAt } from '../core/generations.ts';
import type { ProfileChoice } from '../core/model.ts';
import type { UpstreamProfile } from '../core/profile.ts';
import { type Sentence, say } from '../core/sentence.ts';
import { textAt } from './document.ts';
import { changed, rootOf } from './profiles.ts';
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

/** The profile for Responses of a model that needs it, where the operator leaves the choice. */
export function responsesFor(
  { dialect }: Pick<UpstreamEntry, 'dialect'>,
  name: string,
  upstreamModel: string,
  tables: Profiles['tables'],
): string | undefined {
  const mayChange = dialect === undefined && !tables.has(name);
  return mayChange ? responsesProfile(name, upstreamModel.toLowerCase()) : undefined;
}

/** The profile of a model that the operator has not named one for. */
function generationOf(
  entry: UpstreamEntry,
  name: string,
  upstreamModel: string,
  { all, tables }: Profiles,
): Chosen | undefined {
  const model = upstreamModel.toLowerCase();
  const responses = responsesFor(entry, name, upstreamModel, tables);
  const from = responses ?? name;
  const root = rootOf(from, tables);
  const row = GENERATIONS.find(({ of, models }) => of.includes(root) && models.test(model));
  const own = all.get(from);
  const profile = all.get(row?.profile ?? from);
  if (own === undefined || profile === undefined) return undefined;
  if (row === undefined) {
    const reason = say('tools with thinking need Responses since GPT-5.4');
    return responses === undefined ? undefined : { profile, choice: { name: responses, reason } };
  }
  // What Bedrock has of its own is kept as an operator's changes are.
  const changes = differences(own, BUILT_IN_PROFILES.get(row.of[0] ?? root) ?? own);
  const isChanged = Object.keys(changes).length > 0;
  return {
    profile: { ...profile, ...changes } as UpstreamProfile,
    choice: { name: isChanged ? `${from} with ${row.profile}` : row.profile, reason: row.reason },
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
          choice: { name, reason: upstreamReason(entry, name) },
        })
      : { profile: own, choice: { name, reason: say('the catalog names it for this model') } };
  if (typeof set !== 'object') return chosen;
  const choice = {
    name: `${chosen.choice.name}, changed`,
    reason: say('the catalog changes it for this model'),
  };
  return { profile: changed(chosen.profile, set), choice };
}

const NAMED = say('the profile of the upstream');
const DEFAULT = say('the default of the dialect');

function upstreamReason({ profile, dialect }: UpstreamEntry, name: string): Sentence {
  if (profile !== undefined) return NAMED;
  return name === dialect ? DEFAULT : say("the vendor at the upstream's address");
}

/** Whether something else than the upstream's own entry has decided. */
export function isChosen({ reason }: ProfileChoice): boolean {
  return reason !== NAMED && reason !== DEFAULT && reason !== DEMO_CHOICE.reason;
}

export const DEMO_CHOICE: ProfileChoice = {
  name: 'demo',
  reason: say('the built-in demo models'),
};

/** The members of a profile that differ from another one. */
function differences(one: UpstreamProfile, other: UpstreamProfile): object {
  return Object.fromEntries(
    Object.entries(one).filter(
      ([name, value]) => !isDeepStrictEqual(value, Reflect.get(other, name)),
    ),
  );
}
