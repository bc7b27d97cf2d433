// What descriptions of the API are made of: JSON schemas with texts, and references to named ones.

import { type TSchema, Type } from '@sinclair/typebox';

export type JsonRecord = { [name: string]: unknown };

export type OpenApiDocument = {
  readonly openapi: string;
  readonly paths: { readonly [path: string]: { readonly [method: string]: JsonRecord } };
  readonly components: { readonly schemas: { readonly [name: string]: JsonRecord } } & JsonRecord;
} & JsonRecord;

/** The same object with a description of each member. */
function withTexts(schema: TSchema, texts: Readonly<Record<string, string>>): TSchema {
  const members: Record<string, TSchema> = schema['properties'];
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, member]) => {
      const description = texts[name];
      return [name, description === undefined ? member : { ...member, description }];
    }),
  );
  return { ...schema, properties };
}

/** The member `requestBody` of an operation. */
export function requestBody(
  schema: TSchema,
  texts: Readonly<Record<string, string>>,
  example: unknown,
): JsonRecord {
  const content = { 'application/json': { schema: withTexts(schema, texts), example } };
  const required = (schema['required'] ?? []).length > 0;
  return { requestBody: { required, content } };
}

/** An answer of one status: the envelope of errors with these codes alone. */
export function errorAnswer(
  envelope: TSchema,
  codes: readonly string[],
  headers: JsonRecord,
): JsonRecord {
  const error = { properties: { code: { enum: codes } } };
  const schema = Type.Unsafe({ allOf: [envelope, { properties: { error } }] });
  return {
    description: `One of ${codes.join(', ')}.`,
    headers,
    content: { 'application/json': { schema } },
    'x-error-codes': codes,
  };
}

/**
 * The same as JSON, with a reference in the place of each named schema, which goes to `schemas`.
 * A field that may be null is written with two types where it has one.
 */
export function hoisted(value: unknown, schemas: { [name: string]: JsonRecord }): JsonRecord {
  const visit = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(visit);
    if (typeof each !== 'object' || each === null) return each;
    const { $id: name, ...members } = each as JsonRecord;
    const visited = Object.fromEntries(
      Object.entries(members).map(([key, member]) => [key, visit(member)]),
    );
    if (typeof name !== 'string') return plainNullable(visited);
    schemas[name] = plainNullable(visited);
    return { $ref: `#/components/schemas/${name}` };
  };
  return visit(value) as JsonRecord;
}

function plainNullable(schema: JsonRecord): JsonRecord {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [first, second] = anyOf as readonly JsonRecord[];
  const isNull = Object.keys(second ?? {}).length === 1 && second?.['type'] === 'null';
  if (!isNull || typeof first?.['type'] !== 'string' || 'enum' in first || 'const' in first) {
    return schema;
  }
  return { ...first, ...rest, type: [first['type'], 'null'] };
}

export function sorted(schemas: { [name: string]: JsonRecord }): { [name: string]: JsonRecord } {
  return Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
