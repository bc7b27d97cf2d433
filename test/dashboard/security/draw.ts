// Draws bodies and queries that a route's own schema takes, with chosen ids wherever
// an id may stand.

import { Kind, type TObject, type TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';

type Schema = TSchema & Readonly<Record<string, unknown>>;

/** Every drawn value is one that the schema takes. Of `ids` those are drawn that it takes, mostly. */
export function drawn(schema: TObject, ids: readonly string[]): fc.Arbitrary<object> {
  return fromSchema(schema, ids).filter((value) =>
    Value.Check(schema, value),
  ) as fc.Arbitrary<object>;
}

function fromSchema(schema: TSchema, ids: readonly string[]): fc.Arbitrary<unknown> {
  const rules = schema as Schema;
  switch (schema[Kind]) {
    case 'Object':
      return fromObject(rules['properties'] as Record<string, TSchema>, ids);
    case 'String':
      return fromText(rules, ids);
    case 'Integer':
    case 'Number':
      return fc.integer({
        min: (rules['minimum'] as number | undefined) ?? 0,
        max: Math.min((rules['maximum'] as number | undefined) ?? 1_000, 1_000_000),
      });
    case 'Boolean':
      return fc.boolean();
    case 'Null':
      return fc.constant(null);
    case 'Literal':
      return fc.constant(rules['const']);
    case 'Union':
      return fc.oneof(...(rules['anyOf'] as TSchema[]).map((part) => fromSchema(part, ids)));
    case 'Array':
      return fc.array(fromSchema(rules['items'] as TSchema, ids), {
        minLength: (rules['minItems'] as number | undefined) ?? 0,
        maxLength: Math.min((rules['maxItems'] as number | undefined) ?? 3, 3),
      });
    case 'Record':
    case 'Unknown':
    case 'Any':
      return fc.constant({});
    default:
      throw new Error(`a body has a ${String(schema[Kind])}, of which nothing can be drawn yet`);
  }
}

function fromObject(
  properties: Readonly<Record<string, TSchema>>,
  ids: readonly string[],
): fc.Arbitrary<unknown> {
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, fromSchema(schema, ids)]),
  );
  // The Optional mark is a symbol that the schema's type does not show.
  const required = Object.entries(properties)
    .filter(([, schema]) => !Object.getOwnPropertySymbols(schema).some(isOptionalMark))
    .map(([name]) => name);
  return fc.record(model, { requiredKeys: required });
}

const isOptionalMark = (mark: symbol) => mark.description === 'TypeBox.Optional';

function fromText(rules: Schema, ids: readonly string[]): fc.Arbitrary<unknown> {
  const fitting = ids.filter((id) => Value.Check(rules, id));
  const pattern = rules['pattern'] as string | undefined;
  const minLength = (rules['minLength'] as number | undefined) ?? 0;
  const maxLength = Math.min((rules['maxLength'] as number | undefined) ?? 40, 40);
  const text =
    pattern === undefined
      ? fc.string({ minLength, maxLength: Math.max(minLength, maxLength) })
      : fc.stringMatching(new RegExp(pattern));
  const some = text.filter((value) => Value.Check(rules, value));
  if (fitting.length === 0) return some;
  return fc.oneof(
    { arbitrary: fc.constantFrom(...fitting), weight: 3 },
    { arbitrary: some, weight: 1 },
  );
}
