// Reads the schema of a structured answer from either client format. The neutral request needs only
// the fact that JSON is wanted, so no schema is refused: unrecognized parts are ignored, and the
// answer is JSON of any kind.

import type { AnswerSchema } from '../core/generation.ts';
import { isObject } from '../core/json.ts';

/** The names that upstreams accept. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * `value` has the members `name`, `description`, `schema` and `strict`; only the schema is
 * required.
 */
export function readAnswerSchema(value: unknown): AnswerSchema | undefined {
  if (!isObject(value)) return undefined;
  const { name, description, schema, strict } = value;
  if (!isObject(schema)) return undefined;
  return {
    name: typeof name === 'string' && NAME.test(name) ? name : 'answer',
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    schema,
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
}
