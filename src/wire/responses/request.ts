// Parses the Responses request body into the neutral request. FIELDS lists its members; items have a
// file of their own. Nothing is kept here, so what refers to an earlier response is refused. Refusals
// must never echo a caller's value, and an unknown field must never change the generation.

import { Type } from '@sinclair/typebox';
import { saysSchema } from '../../core/answer-format.ts';
import { EFFORTS } from '../../core/effort.ts';
import { invalidRequest } from '../../core/error.ts';
import type { GenerationRequest, JsonObject } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import { readAnswerSchema } from '../answer-schema.ts';
import {
  readCacheKey,
  readParallelToolCalls,
  readUser,
  readVerbosity,
} from '../chat/request-fields.ts';
import {
  described,
  fieldsSchema,
  objectOf,
  oneOf,
  readBoolean,
  readFields,
  readNonEmpty,
  readOutputLimit,
  readString,
  requireBody,
  shape,
  withoutUndefined,
} from '../check.ts';
import { EFFORT_REASONING } from '../effort.ts';
import type { ParsedBody } from '../format.ts';
import { chosenTools } from '../tool-choice.ts';
import { assembleTurns } from '../turns.ts';
import { itemTools, itemTurns, readInput } from './request-items.ts';
import { distinctTools, readToolChoice, readTools } from './tools.ts';

const readFormatType = objectOf({ type: oneOf('text', 'json_object', 'json_schema') }, ['type']);

const FIELDS = {
  model: readNonEmpty,
  input: readInput,
  instructions: readString,
  max_output_tokens: readOutputLimit('max_output_tokens'),
  temperature: shape(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: shape(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  stream: readBoolean,
  tools: readTools,
  tool_choice: readToolChoice,
  parallel_tool_calls: readParallelToolCalls,
  reasoning: objectOf({ effort: oneOf(...EFFORTS), summary: described(Type.Unknown(), asIs) }, []),
  text: objectOf(
    { format: described(readFormatType.schema, readFormat), verbosity: readVerbosity },
    [],
  ),
  prompt_cache_key: readCacheKey,
  user: readUser,
  previous_response_id: absent('responses; send the whole conversation in input'),
  conversation: absent('conversations; send all of it in input'),
  prompt: absent('prompts; send its text in instructions'),
  background: described(Type.Literal(false), requireForeground),
};

const REQUIRED = ['model', 'input'] as const;

/** Clients and their tracing read these from the answer. */
const REPEATED = [
  ...['instructions', 'max_output_tokens', 'parallel_tool_calls', 'reasoning', 'temperature'],
  ...['tool_choice', 'tools', 'top_p'],
];
const PLAIN_TEXT = { format: { type: 'text' } };

/** They are in memory until the answer ends, and what is ignored in them is not charged. */
const REPEATED_LENGTH_MAX = 262_144;

/** The schema of a body in the API description. */
export const responsesBody = fieldsSchema(FIELDS, REQUIRED, { $id: 'ResponseRequest' });

/** The same fields, for a count of its tokens. */
export const inputTokensBody = fieldsSchema(FIELDS, REQUIRED, { $id: 'InputTokensRequest' });

/** Reads a Responses body. Throws `invalid_request` with the first wrong field as `param`. */
export function parseResponses(body: ParsedBody): GenerationRequest {
  const value = requireBody(body.value);
  const fields = readFields(value, '', FIELDS, REQUIRED);
  const { system: leading, turns } = assembleTurns(itemTurns(fields.input), 'input');
  const system = [fields.instructions ?? '', leading].filter((part) => part !== '').join('\n\n');
  if (system === '' && turns.length === 0) {
    throw invalidRequest('input', 'must have a message, unless there are instructions');
  }
  const declared = distinctTools([...(fields.tools ?? []), ...itemTools(fields.input)]);
  const { tools, choice } = chosenTools(declared, fields.tool_choice?.(declared));
  const { effort, summary } = fields.reasoning ?? {};
  const format = fields.text?.format;
  const schema = format?.schema;
  return withoutUndefined<GenerationRequest>({
    model: fields.model,
    system,
    turns,
    maxOutputTokens: fields.max_output_tokens,
    temperature: fields.temperature,
    topP: fields.top_p,
    toolChoice: choice,
    parallelToolCalls: fields.parallel_tool_calls,
    reasoning: effort && EFFORT_REASONING[effort],
    hidesThinking: typeof summary === 'string' && summary !== 'none' ? undefined : true,
    verbosity: fields.text?.verbosity,
    promptCacheKey: fields.prompt_cache_key,
    schema,
    saysSchema: (schema && saysSchema(schema, { system, turns })) || undefined,
    endUser: fields.user,
    repeated: repeatedOf(value),
    stop: [],
    tools,
    json: format !== undefined && format.type !== 'text',
    stream: fields.stream ?? false,
    includeUsage: true,
  });
}

function repeatedOf(body: JsonObject): JsonObject {
  const { metadata, text } = body;
  const sent = REPEATED.filter((name) => (body[name] ?? null) !== null);
  const { format, verbosity } = isObject(text) ? text : {};
  const repeated = {
    ...Object.fromEntries(sent.map((name) => [name, body[name] ?? null])),
    ...(isObject(metadata) && { metadata }),
    text: { ...PLAIN_TEXT, ...(format && { format }), ...(verbosity && { verbosity }) },
  };
  const isTooLong = JSON.stringify(repeated).length > REPEATED_LENGTH_MAX;
  return isTooLong ? { text: PLAIN_TEXT } : repeated;
}

function readFormat(value: unknown, path: string) {
  const { type } = readFormatType(value, path);
  const isSchema = type === 'json_schema' && isObject(value);
  return { type, schema: isSchema ? readAnswerSchema(value) : undefined };
}

/** A field that refers to what only OpenAI keeps. */
function absent(what: string) {
  return described(Type.Null(), (_value: unknown, path: string): undefined => {
    throw invalidRequest(path, `is not supported, because this service keeps no ${what}`);
  });
}

function requireForeground(value: unknown, path: string): undefined {
  if (value === false) return undefined;
  throw invalidRequest(path, 'must be false: this service keeps no answers to fetch later');
}

function asIs(value: unknown): unknown {
  return value;
}
