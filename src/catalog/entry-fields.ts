// Describes the members of an entry for a form, from the schema that checks them.

import { type TSchema, TypeGuard } from '@sinclair/typebox';
import { BUILT_IN_PLANS } from '../core/plan.ts';
import { type CatalogEntry, type CatalogEntryKind, ENTRY_SCHEMAS } from './entries.ts';
import { UPSTREAM_DEFAULTS } from './upstreams.ts';

export type EntryField = {
  readonly name: string;
  readonly required: boolean;
  /** `texts` and `tables` are lists; `choices` is a list of fixed words; `other` has no field. */
  readonly type:
    | ('text' | 'integer' | 'number' | 'decimal' | 'flag' | 'choice')
    | ('choices' | 'texts' | 'table' | 'tables' | 'other');
  readonly choices?: readonly string[] | undefined;
  /** Of a table, or of each table of a list. */
  readonly fields?: readonly EntryField[] | undefined;
};

/** The fields of a kind in the order of the schema. */
export function entryFields(kind: CatalogEntryKind): readonly EntryField[] {
  const fields = fieldsOf(ENTRY_SCHEMAS[kind]);
  // The name of a plan is the key of its table.
  return kind === 'plan' ? [{ name: 'slug', required: true, type: 'text' }, ...fields] : fields;
}

/** What the server uses where an entry leaves a member out. */
export function entryDefaults(kind: CatalogEntryKind, id: string | undefined): CatalogEntry {
  if (kind === 'upstream') return UPSTREAM_DEFAULTS;
  if (kind === 'model') return { features: ['tools', 'json'], image_factor: 1 };
  const plan = BUILT_IN_PLANS.find(({ slug }) => slug === id);
  if (plan === undefined) return { models: ['*'] };
  return {
    name: plan.name,
    requests_per_minute: plan.requestsPerMinute,
    tokens_per_minute: plan.tokensPerMinute,
    concurrent_requests: plan.concurrentRequests,
    max_context: plan.maxContext,
    max_api_keys: plan.maxApiKeys,
    models: plan.models,
  };
}

function fieldsOf(schema: TSchema): EntryField[] {
  if (!TypeGuard.IsObject(schema)) return [];
  const required = new Set(schema.required);
  return Object.entries(schema.properties).map(([name, member]) => ({
    name,
    required: required.has(name),
    ...shapeOf(member),
  }));
}

function shapeOf(schema: TSchema): Omit<EntryField, 'name' | 'required'> {
  if (TypeGuard.IsBoolean(schema)) return { type: 'flag' };
  if (TypeGuard.IsInteger(schema)) return { type: 'integer' };
  if (TypeGuard.IsNumber(schema)) return { type: 'number' };
  if (TypeGuard.IsRecord(schema)) return { type: 'other' };
  if (TypeGuard.IsUnion(schema)) {
    // The name of a profile, or a table.
    if (schema.anyOf.some((each) => TypeGuard.IsRecord(each))) return { type: 'text' };
    const choices = wordsOf(schema);
    return choices.length === 0 ? { type: 'decimal' } : { type: 'choice', choices };
  }
  if (TypeGuard.IsObject(schema)) return { type: 'table', fields: fieldsOf(schema) };
  if (!TypeGuard.IsArray(schema)) return { type: 'text' };
  const { items } = schema;
  if (TypeGuard.IsObject(items)) return { type: 'tables', fields: fieldsOf(items) };
  const choices = wordsOf(items);
  return choices.length === 0 ? { type: 'texts' } : { type: 'choices', choices };
}

function wordsOf(schema: TSchema): string[] {
  if (!TypeGuard.IsUnion(schema)) return [];
  return schema.anyOf.flatMap((each) => (TypeGuard.IsLiteralString(each) ? [each.const] : []));
}
