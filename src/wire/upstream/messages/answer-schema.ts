// Which answer schemas the Messages format accepts. It refuses all others, so they go into the
// prompt (https://docs.claude.com/en/docs/build-with-claude/structured-outputs, "JSON Schema
// limitations").

import type { JsonObject } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';

const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'enum',
  'const',
  'anyOf',
  'allOf',
  '$ref',
  '$defs',
  'definitions',
  'format',
  'default',
  'title',
  'description',
]);

const FORMATS: readonly unknown[] = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
];

/** Nested references; a schema with deeper ones goes into the prompt. */
const REFERENCES_MAX = 32;

/**
 * Whether every part of the schema satisfies the rules: closed objects, no recursion, no bounds.
 */
export function takesSchema(root: JsonObject): boolean {
  const known = new Set<string>();

  function takes(schema: unknown, open: readonly string[]): boolean {
    if (!isObject(schema)) return false;
    const all = (value: unknown): boolean =>
      Array.isArray(value) && value.every((part) => takes(part, open));
    const each = (value: unknown): boolean =>
      isObject(value) && Object.values(value).every((part) => takes(part, open));
    const isClosed = schema['additionalProperties'] === false;
    if (mayBeObject(schema) && !isClosed) return false;
    return Object.entries(schema).every(([keyword, value]) => {
      switch (keyword) {
        case 'properties':
        case '$defs':
        case 'definitions':
          return each(value);
        case 'anyOf':
        case 'allOf':
          return all(value);
        case 'items':
          return takes(value, open);
        case '$ref':
          return takesReference(value, open);
        case 'enum':
          return Array.isArray(value) && !value.some((item) => typeof item === 'object' && item);
        case 'minItems':
          return value === 0 || value === 1;
        case 'format':
          return FORMATS.includes(value);
        case 'additionalProperties':
          return isClosed;
        default:
          return KEYWORDS.has(keyword);
      }
    });
  }

  function takesReference(pointer: unknown, open: readonly string[]): boolean {
    if (typeof pointer !== 'string' || open.includes(pointer)) return false;
    if (known.has(pointer)) return true;
    if (open.length === REFERENCES_MAX || !takes(resolve(root, pointer), [...open, pointer])) {
      return false;
    }
    known.add(pointer);
    return true;
  }

  return takes(root, []);
}

function mayBeObject(schema: JsonObject): boolean {
  const { type } = schema;
  return (
    'properties' in schema || type === 'object' || (Array.isArray(type) && type.includes('object'))
  );
}

/** The target of a reference inside the schema; undefined if it does not exist. */
function resolve(root: JsonObject, pointer: string): unknown {
  const match = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(pointer);
  const [, place = '', name = ''] = match ?? [];
  const definitions = root[place];
  return isObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
}
