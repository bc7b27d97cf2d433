// The schema of a structured answer, as clients of both formats send it. Called by their request
// parsers. Our own format knows only that JSON is wanted, so nothing in a schema is refused here:
// what is not understood is ignored, and the answer is JSON of any kind.

import type { AnswerSchema } from '../core/generation.ts';
import { isObject } from '../core/json.ts';

/** Which names upstreams take. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** `value` has the members `name`, `description`, `schema` and `strict`; only the schema is needed. */
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
