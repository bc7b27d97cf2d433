// The models, upstreams and plans of a catalog as entries that can be added, replaced and removed.
// Works on the document, with environment references as text.

import { isObject } from '../core/json.ts';
import { listAt, memberOf, tableAt, textAt } from './document.ts';
import { ModelSchema, PlanSchema, tomlKey, UpstreamSchema } from './schema.ts';

export const CATALOG_KINDS = ['model', 'upstream', 'plan'] as const;

export type CatalogEntryKind = (typeof CATALOG_KINDS)[number];

/** A plan has its name as `slug`. */
export type CatalogEntry = Readonly<Record<string, unknown>>;

export const ENTRY_SCHEMAS = { model: ModelSchema, upstream: UpstreamSchema, plan: PlanSchema };

/** The member that names an entry. */
export const NAMED_BY = { model: 'slug', upstream: 'id', plan: 'slug' } as const;

/** The entries of a kind by name, in file order. Entries without a name are left out. */
export function entriesOf(
  document: unknown,
  kind: CatalogEntryKind,
): ReadonlyMap<string, CatalogEntry> {
  if (kind === 'plan') {
    const plans = tableAt(document, 'plan').filter((each) => isObject(each[1]));
    return new Map(plans.map(([slug, plan]) => [slug, { slug, ...Object(plan) }]));
  }
  return new Map(
    listAt(document, kind).flatMap((entry) => {
      const name = textAt(entry, NAMED_BY[kind]);
      return name === undefined || !isObject(entry) ? [] : [[name, entry] as const];
    }),
  );
}

/** `id` is absent for a new entry, `entry` for one that goes. */
export type EntryChange = {
  readonly kind: CatalogEntryKind;
  readonly id: string | undefined;
  readonly entry: CatalogEntry | undefined;
};

/** The document with the change, and the path of the entry in it, such as `model[2]`. */
export function withEntry(
  document: CatalogEntry,
  { kind, id, entry }: EntryChange,
): { readonly document: CatalogEntry; readonly path: string } {
  const next = entry === undefined ? undefined : ordered(kind, entry);
  if (kind === 'plan') {
    const { slug = '', ...plan } = next ?? {};
    const plans = tableAt(document, 'plan').filter(([name]) => next !== undefined || name !== id);
    const all = Object.fromEntries(next === undefined ? plans : [...plans, [String(slug), plan]]);
    const { plan: _, ...rest } = document;
    return {
      document: Object.keys(all).length === 0 ? rest : { ...rest, plan: all },
      path: `plan.${tomlKey(String(slug))}`,
    };
  }
  const list = listAt(document, kind);
  const found = list.findIndex((each) => id !== undefined && textAt(each, NAMED_BY[kind]) === id);
  const at = found < 0 ? list.length : found;
  const entries = list.toSpliced(at, 1, ...(next === undefined ? [] : [next]));
  return { document: { ...document, [kind]: entries }, path: `${kind}[${at}]` };
}

/** In the order of the schema, which is the order of the documentation. */
function ordered(kind: CatalogEntryKind, entry: CatalogEntry): CatalogEntry {
  const names = [NAMED_BY[kind], ...Object.keys(ENTRY_SCHEMAS[kind].properties)];
  const known = [...new Set(names)].filter((name) => Object.hasOwn(entry, name));
  return { ...Object.fromEntries(known.map((name) => [name, entry[name]])), ...entry };
}

/** The members of an entry that differ, each with its values before and after. */
export type MemberChange = {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
};

/** One table deep, so that one rate of a price is one change. */
export function memberChanges(
  before: CatalogEntry,
  after: CatalogEntry,
  path = '',
): MemberChange[] {
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return members.flatMap((member) => {
    const [old, now] = [memberOf(before, member), memberOf(after, member)];
    if (Bun.deepEquals(old, now)) return [];
    if (path === '' && isObject(old) && isObject(now)) return memberChanges(old, now, `${member}.`);
    return [{ member: `${path}${member}`, before: old, after: now }];
  });
}
