// Reads a request body field by field. A refusal names the first wrong field in the caller's order
// and what is expected there, and never repeats the caller's value. Shared by all client formats.

import { Kind, type SchemaOptions, type Static, type TSchema, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { AssertionError } from '../core/assert.ts';
import { GatewayError, invalidRequest } from '../core/error.ts';
import type { JsonObject, OutputLimit } from '../core/generation.ts';
import { isObject } from '../core/json.ts';
import { exceedsCharacters, MESSAGE_TEXT_MAX, TOOL_NAME_MAX } from './limits.ts';

/** Converts the value at `path`, or throws `invalid_request` with a path. */
export type Reader<Result> = {
  (value: unknown, path: string): Result;
  /** The accepted schema, for the API description. Rules across several fields are not included. */
  readonly schema: TSchema;
};

type Readers = { readonly [field: string]: Reader<unknown> };

type Fields<R extends Readers> = { readonly [K in keyof R]?: ReturnType<R[K]> };

/** The whole body, which must be an object. */
export function requireBody(value: unknown): JsonObject {
  if (isObject(value)) return value;
  throw new GatewayError('invalid_request', {
    message: 'The request body must be a JSON object.',
  });
}

/**
 * Reads the fields of an object that `readers` has, in their written order; others are ignored.
 * Null counts as absent for every optional field. `path` is the object's own, and empty for the
 * body.
 */
export function readFields<R extends Readers, Needed extends keyof R & string>(
  source: JsonObject,
  path: string,
  readers: R,
  required: readonly Needed[],
): Fields<R> & Required<Pick<Fields<R>, Needed>> {
  const needed: readonly string[] = required;
  const result: Record<string, unknown> = {};
  for (const field in source) {
    const value = source[field];
    const reader = Object.hasOwn(readers, field) ? readers[field] : undefined;
    if (reader === undefined || (value === null && !needed.includes(field))) continue;
    result[field] = reader(value, join(path, field));
  }
  // Checked last: a wrong `type` explains a missing field better than the absence itself.
  for (const field of needed) {
    if (!Object.hasOwn(source, field)) throw invalidRequest(join(path, field), 'is required');
  }
  return result as Fields<R> & Required<Pick<Fields<R>, Needed>>;
}

/**
 * A reader that validates in code, with the schema of what it accepts. Pass a `read` that is used
 * only here.
 */
export function described<Result>(
  schema: TSchema,
  read: (value: unknown, path: string) => Result,
): Reader<Result> {
  return Object.assign(read, { schema });
}

/** A reader for an object, by `readFields`. */
export function objectOf<R extends Readers, Needed extends keyof R & string>(
  readers: R,
  required: readonly Needed[],
) {
  return described(fieldsSchema(readers, required), (value: unknown, path: string) =>
    readFields(readObject(value, path), path, readers, required),
  );
}

/** The schema of what `readFields` accepts. */
export function fieldsSchema(
  readers: Readers,
  required: readonly string[],
  options: SchemaOptions = {},
): TSchema {
  const members = Object.entries(readers).map(([name, { schema }]) => {
    const isRequired = required.includes(name);
    return [name, isRequired ? schema : Type.Optional(nullable(schema))] as const;
  });
  return Type.Object(Object.fromEntries(members), options);
}

/** The schema of a field that may be null, which counts as absent. */
export function nullable(schema: TSchema): TSchema {
  return Type.Union([schema, Type.Null()]);
}

/** A reader for one of a few words. */
export function oneOf<Word extends string>(...words: readonly Word[]): Reader<Word> {
  const schema = Type.Unsafe<Word>({ type: 'string', enum: words });
  return described(schema, (value, path) => {
    const found = words[words.indexOf(value as Word)];
    if (found !== undefined) return found;
    if (value === undefined) throw invalidRequest(path, 'is required');
    const list = words.map((word) => JSON.stringify(word)).join(', ');
    throw invalidRequest(path, words.length === 1 ? `must be ${list}` : `must be one of ${list}`);
  });
}

/**
 * A reader for a single value described by a TypeBox schema. It compiles the schema, so call it at
 * load time. A schema's description says what the value must be; objects and arrays have readers of
 * their own.
 */
export function shape<S extends TSchema>(schema: S): Reader<Static<S>> {
  const check = TypeCompiler.Compile(schema);
  const reason = `must be ${schema.description ?? describe(schema)}`;
  return described(schema, (value, path) => {
    if (check.Check(value)) return value;
    throw invalidRequest(path, value === undefined ? 'is required' : reason);
  });
}

/** A reader for an array, with a bound on its length; `entry` reads each element. */
export function listOf<Entry>(entry: Reader<Entry>, bounds: { min?: number; max?: number }) {
  const { min = 0, max = Number.POSITIVE_INFINITY } = bounds;
  const schema = Type.Array(entry.schema, {
    ...(bounds.min === undefined ? {} : { minItems: bounds.min }),
    ...(bounds.max === undefined ? {} : { maxItems: bounds.max }),
  });
  return described(schema, (value: unknown, path: string): Entry[] => {
    if (value === undefined) throw invalidRequest(path, 'is required');
    if (!Array.isArray(value)) throw invalidRequest(path, 'must be an array');
    if (value.length < min) throw invalidRequest(path, `must have at least ${count(min)}`);
    if (value.length > max) {
      throw invalidRequest(path, `has ${value.length} entries; at most ${max} are allowed`);
    }
    const entries: Entry[] = [];
    for (let index = 0; index < value.length; index += 1) {
      entries.push(entry(value[index], `${path}[${index}]`));
    }
    return entries;
  });
}

/** Removes undefined members: an absent field must stay absent. */
export function withoutUndefined<Target extends object>(
  source: {
    readonly [K in keyof Target]: Target[K] | undefined;
  },
): Target {
  const present: Partial<Target> = {};
  for (const name in source) {
    const value = source[name];
    if (value !== undefined) present[name] = value;
  }
  return present as Target;
}

/** Refuses a message whose text exceeds the limit; `path` is that of its content. */
export function checkMessageText(texts: readonly string[], path: string): void {
  if (!exceedsCharacters(texts, MESSAGE_TEXT_MAX)) return;
  throw invalidRequest(path, `must have at most ${MESSAGE_TEXT_MAX} characters of text`);
}

/** Any string, including the empty one. */
export const readString = described(Type.String(), (value, path): string => {
  if (typeof value === 'string') return value;
  throw invalidRequest(path, value === undefined ? 'is required' : 'must be a string');
});

export const readObject = described(Type.Object({}), (value, path): JsonObject => {
  if (value === undefined) throw invalidRequest(path, 'is required');
  if (isObject(value)) return value;
  throw invalidRequest(path, 'must be an object');
});

export const readNonEmpty = shape(Type.String({ minLength: 1 }));

export const readBoolean = shape(Type.Boolean());

/** A bound on generated tokens. */
const readTokenCount = shape(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }));

/** Reads the caller's bound on the output, which stands in `field`. */
export function readOutputLimit(field: OutputLimit['field']): Reader<OutputLimit> {
  return described(readTokenCount.schema, (value, path) => {
    return { tokens: readTokenCount(value, path), field };
  });
}

/** The name of a tool in its definition. */
export const readToolName = shape(
  Type.String({
    pattern: `^[^\\u0000-\\u001f\\u007f]{1,${TOOL_NAME_MAX}}$`,
    description: `a name of 1 to ${TOOL_NAME_MAX} characters without control characters`,
  }),
);

/**
 * The schema of a tool's arguments, which are an object. Completed here, because agents leave out
 * the properties of tools without arguments, and OpenAI answers 400 "object schema missing
 * properties".
 */
export const readToolSchema = described(readObject.schema, (value, path): JsonObject => {
  const given = readObject(value, path);
  const typed = given['type'] === 'object' ? given : { ...given, type: 'object' };
  return isObject(typed['properties']) ? typed : { ...typed, properties: {} };
});

/** What a schema accepts, phrased to follow "must be". */
function describe(schema: TSchema): string {
  switch (schema[Kind]) {
    case 'String':
      return schema['minLength'] === undefined ? 'a string' : 'a string that is not empty';
    case 'Integer':
      return `a whole number${range(schema)}`;
    case 'Number':
      return `a number${range(schema)}`;
    case 'Boolean':
      return 'true or false';
    case 'Literal':
      return JSON.stringify(schema['const']);
    default:
      throw new AssertionError(`no words for a schema of kind ${schema[Kind]}`);
  }
}

function range(schema: TSchema): string {
  const { minimum, exclusiveMinimum, maximum } = schema;
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}, up to ${maximum}`;
  return minimum === undefined ? '' : ` from ${minimum} to ${maximum}`;
}

function count(entries: number): string {
  return entries === 1 ? '1 entry' : `${entries} entries`;
}

function join(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}
