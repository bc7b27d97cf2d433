// The profiles that a catalog defines, and those of its upstreams: problems for rules.ts and values
// for catalog.ts. No message contains a value.

import { BUILT_IN_PROFILES } from '../core/built-in-profiles.ts';
import { isEffort, wordsOf } from '../core/effort.ts';
import { isObject } from '../core/json.ts';
import { RESERVED_MEMBERS, type UpstreamProfile } from '../core/profile.ts';
import { type Sentence, say } from '../core/sentence.ts';
import { textAt } from './document.ts';
import { PROFILE_SCHEMAS, type ProfileTables } from './profile-schema.ts';
import {
  didYouMean,
  missing,
  mustBe,
  nameProblems,
  PROFILE_EXPECTS,
  type Problem,
  shapeProblems,
  tomlKey,
} from './schema.ts';

type Dialect = UpstreamProfile['dialect'];

const DIALECTS = ['chat', 'messages', 'responses'] as const satisfies readonly Dialect[];

/** Every profile that an upstream may name, built-in ones first. The tables must be valid. */
export function toProfiles(tables: ProfileTables): Map<string, UpstreamProfile> {
  const own = new Map(Object.entries(tables));
  const resolve = (name: string): UpstreamProfile => {
    const table = own.get(name) ?? {};
    const base = BUILT_IN_PROFILES.get(name) ?? resolve(textAt(table, 'base') ?? '');
    return changed(base, table);
  };
  const names = new Set([...BUILT_IN_PROFILES.keys(), ...own.keys()]);
  return new Map([...names].map((name) => [name, resolve(name)]));
}

/** The profiles that an upstream of a dialect can name, for a form; a broken table is left out. */
export function profileNames(
  tables: unknown,
): { readonly name: string; readonly dialect: Dialect }[] {
  const own = isObject(tables) ? Object.entries(tables) : [];
  const known = new Map([...BUILT_IN_PROFILES].map(([name, { dialect }]) => [name, dialect]));
  for (const [name, table] of own) {
    const dialect = known.get(textAt(table, 'base') ?? name);
    if (dialect !== undefined) known.set(name, dialect);
  }
  return [...known].map(([name, dialect]) => ({ name, dialect }));
}

/**
 * A profile with the fields of a table. Tables of words and numbers are merged; every other field
 * is replaced. `efforts` sets the words.
 */
export function changed(
  base: UpstreamProfile,
  table: Readonly<Record<string, unknown>>,
): UpstreamProfile {
  const { base: _, efforts, ...entries } = table;
  const words = Array.isArray(efforts)
    ? { effort_words: wordsOf(efforts.filter(isEffort)), ...entries }
    : entries;
  const fields = Object.entries(words).map(([key, value]) => {
    const name = key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
    const before = key === 'extra_body' ? undefined : Reflect.get(base, name);
    return [name, isObject(before) && isObject(value) ? { ...before, ...value } : value];
  });
  return { ...base, ...Object.fromEntries(fields) } as UpstreamProfile;
}

/** All problems of the profile tables. `entries` may have any shape. */
export function profileProblems(entries: readonly (readonly [string, unknown])[]): Problem[] {
  const tables = new Map(entries);
  return entries.flatMap(([name, table]) => {
    if (!isObject(table)) return [];
    const path = `profile.${tomlKey(name)}`;
    const dialect = dialectOf(name, tables);
    return [
      ...nameProblems(name, path),
      ...baseProblems(name, table, path, tables),
      ...(dialect === undefined ? [] : fieldProblems(table, dialect, path)),
    ];
  });
}

function baseProblems(
  name: string,
  table: Readonly<Record<string, unknown>>,
  path: string,
  tables: ReadonlyMap<string, unknown>,
): Problem[] {
  const refuse = (text: Sentence): Problem[] => [{ path: `${path}.base`, text }];
  const { base } = table;
  if (BUILT_IN_PROFILES.has(name)) {
    if (base === undefined) return [];
    return refuse(
      say('is not used here: the profile of this name is built in, and its table changes it'),
    );
  }
  if (base === undefined) return refuse(missing(say('the name of the profile to change')));
  if (typeof base !== 'string') return refuse(mustBe(NAME_EXPECTS));
  if (!isKnown(base, tables)) return refuse(unknownProfile(base, tables));
  if (!leadsBack(name, tables)) return [];
  return refuse(say('leads back to this profile; the last base must be a built-in profile'));
}

const NAME_EXPECTS = say('the name of a profile');

function fieldProblems(
  table: Readonly<Record<string, unknown>>,
  dialect: Dialect,
  path: string,
): Problem[] {
  const known = Object.keys(PROFILE_SCHEMAS[dialect].properties);
  const { base: _, ...fields } = table;
  const foreign = Object.keys(fields).flatMap((key) => {
    const other = known.includes(key) ? undefined : dialectWith(key);
    return other === undefined ? [] : [{ key, other }];
  });
  const own = Object.entries(fields).filter(([key]) => !foreign.some((each) => each.key === key));
  return [
    ...foreign.map(({ key, other }) => ({
      path: `${path}.${key}`,
      text: say('is a field of profiles of the {other} dialect, and this one is of {dialect}', {
        other,
        dialect,
      }),
    })),
    ...shapeProblems(Object.fromEntries(own), PROFILE_SCHEMAS[dialect], path),
    ...extraBodyProblems(fields['extra_body'], `${path}.extra_body`),
  ];
}

function dialectWith(field: string): Dialect | undefined {
  return DIALECTS.find((dialect) => Object.hasOwn(PROFILE_SCHEMAS[dialect].properties, field));
}

/** Extra members must be JSON, and must not change what was requested and paid for. */
function extraBodyProblems(body: unknown, path: string): Problem[] {
  if (!isObject(body)) return [];
  const reserved = Object.keys(body).filter((key) => RESERVED_MEMBERS.has(key));
  return [
    ...reserved.map((key) => ({
      path: `${path}.${key}`,
      text: say('must not be set here: it is the request that says it'),
    })),
    ...notJson(body, path).map((below) => ({ path: below, text: say('must be a finite number') })),
  ];
}

/** TOML allows two numbers that JSON does not: `inf` and `nan`. */
function notJson(value: unknown, path: string): string[] {
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [path];
  if (Array.isArray(value)) return value.flatMap((item, at) => notJson(item, `${path}[${at}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => notJson(item, `${path}.${tomlKey(key)}`));
}

/**
 * The problems of the profile that an upstream or one of its models names; without a dialect, the
 * profile's own counts.
 */
export function namedProfileProblems(
  name: string,
  dialect: Dialect | undefined,
  path: string,
  entries: readonly (readonly [string, unknown])[],
): Problem[] {
  const tables = new Map(entries);
  if (!isKnown(name, tables)) return [{ path, text: unknownProfile(name, tables) }];
  const found = dialectOf(name, tables);
  if (found === undefined || dialect === undefined || found === dialect) return [];
  if (isKnown(`${name}-${dialect}`, tables)) return [];
  const text = say('is a profile of the {found} dialect, and this upstream speaks {dialect}', {
    found,
    dialect,
  });
  return [{ path, text }];
}

/** The problems of the profile of a model at an upstream: a name, or a table of changes. */
export function placementProfileProblems(
  profile: unknown,
  upstreamProfile: string | undefined,
  dialect: Dialect | undefined,
  path: string,
  entries: readonly (readonly [string, unknown])[],
): Problem[] {
  if (typeof profile === 'string') return namedProfileProblems(profile, dialect, path, entries);
  if (!isObject(profile)) return [{ path, text: mustBe(PROFILE_EXPECTS) }];
  const { base } = profile;
  if (base !== undefined && typeof base !== 'string') {
    return [{ path: `${path}.base`, text: mustBe(NAME_EXPECTS) }];
  }
  const known = dialect ?? dialectOf(base ?? upstreamProfile ?? '', new Map(entries));
  return [
    ...(base === undefined ? [] : namedProfileProblems(base, dialect, `${path}.base`, entries)),
    ...(known === undefined ? [] : fieldProblems(profile, known, path)),
  ];
}

function isKnown(name: string, tables: ReadonlyMap<string, unknown>): boolean {
  return BUILT_IN_PROFILES.has(name) || tables.has(name);
}

function unknownProfile(name: string, tables: ReadonlyMap<string, unknown>): Sentence {
  const hint = didYouMean(name, [...BUILT_IN_PROFILES.keys(), ...tables.keys()]);
  return say('is neither a built-in profile nor the name of a [profile.NAME]{hint}', { hint });
}

/** The built-in profile at the end of the bases; where they lead to none, the last that exists. */
export function rootOf(name: string, tables: ReadonlyMap<string, unknown>): string {
  const chain = new Set([name]);
  let root = name;
  while (!BUILT_IN_PROFILES.has(root)) {
    const base = textAt(tables.get(root), 'base');
    if (base === undefined || chain.has(base)) break;
    chain.add(base);
    root = base;
  }
  return root;
}

/** The dialect of the built-in base; undefined if the bases do not lead to one. */
export function dialectOf(name: string, tables: ReadonlyMap<string, unknown>): Dialect | undefined {
  return BUILT_IN_PROFILES.get(rootOf(name, tables))?.dialect;
}

/** Whether the profile is part of a cycle of bases, and does not merely lead to one. */
function leadsBack(name: string, tables: ReadonlyMap<string, unknown>): boolean {
  const root = rootOf(name, tables);
  return !BUILT_IN_PROFILES.has(root) && textAt(tables.get(root), 'base') === name;
}
