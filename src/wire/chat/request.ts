// Parses the chat-completions request body into the neutral request. FIELDS lists its members;
// messages have a file of their own. It must never echo a caller's value, and never let an unknown
// field change the generation.

import { Type } from '@sinclair/typebox';
import { saysSchema } from '../../core/answer-format.ts';
import { EFFORTS, type Effort, isEffort } from '../../core/effort.ts';
import { invalidRequest } from '../../core/error.ts';
import type { GenerationRequest, Reasoning } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import { readAnswerSchema } from '../answer-schema.ts';
import {
  described,
  fieldsSchema,
  listOf,
  objectOf,
  oneOf,
  readBoolean,
  readFields,
  readNonEmpty,
  readOutputLimit,
  requireBody,
  shape,
  withoutUndefined,
} from '../check.ts';
import { EFFORT_REASONING } from '../effort.ts';
import type { ParsedBody } from '../format.ts';
import { MESSAGES_MAX, STOP_MAX } from '../limits.ts';
import { chosenTools } from '../tool-choice.ts';
import { assembleTurns } from '../turns.ts';
import { messageEntries, readMessage } from './message.ts';
import { readCacheKey, readParallelToolCalls, readUser, readVerbosity } from './request-fields.ts';
import { readToolChoice, readTools } from './tools.ts';

const readPenalty = shape(Type.Number({ minimum: -2, maximum: 2 }));
const readStopList = listOf(readNonEmpty, { max: STOP_MAX });

const readFormatType = objectOf({ type: oneOf('text', 'json_object', 'json_schema') }, ['type']);

const FIELDS = {
  model: readNonEmpty,
  messages: listOf(readMessage, { min: 1, max: MESSAGES_MAX }),
  max_tokens: readOutputLimit('max_tokens'),
  max_completion_tokens: readOutputLimit('max_completion_tokens'),
  temperature: shape(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: shape(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  frequency_penalty: readPenalty,
  presence_penalty: readPenalty,
  stop: described(Type.Union([readNonEmpty.schema, readStopList.schema]), readStop),
  stream: readBoolean,
  stream_options: objectOf({ include_usage: readBoolean }, []),
  response_format: described(readFormatType.schema, readResponseFormat),
  tools: readTools,
  tool_choice: readToolChoice,
  reasoning_effort: oneOf(...EFFORTS),
  thinking: objectOf({ type: oneOf('enabled', 'disabled', 'adaptive') }, ['type']),
  user: readUser,
  n: shape(Type.Literal(1)),
  // No value of the fields from here on is refused.
  parallel_tool_calls: readParallelToolCalls,
  reasoning: described(Type.Unknown(), readReasoning),
  verbosity: readVerbosity,
  prompt_cache_key: readCacheKey,
};

const REQUIRED = ['model', 'messages'] as const;

/** The schema of a body in the API description. */
export const chatBody = fieldsSchema(FIELDS, REQUIRED, { $id: 'ChatCompletionRequest' });

const NONE: readonly never[] = [];

/** Reads a chat-completions body. Throws `invalid_request` with the first wrong field as `param`. */
export function parseChat(body: ParsedBody): GenerationRequest {
  const fields = readFields(requireBody(body.value), '', FIELDS, REQUIRED);
  const { system, turns } = assembleTurns(messageEntries(fields.messages));
  if (system === '' && turns.length === 0) {
    throw invalidRequest('messages', 'must have a message that is not an empty system message');
  }
  const { tools, choice } = chosenTools(fields.tools ?? NONE, fields.tool_choice);
  const { reasoning: object } = fields;
  const schema = fields.response_format?.schema;
  return withoutUndefined<GenerationRequest>({
    model: fields.model,
    system,
    turns,
    maxOutputTokens: fields.max_completion_tokens ?? fields.max_tokens,
    temperature: fields.temperature,
    topP: fields.top_p,
    frequencyPenalty: fields.frequency_penalty,
    presencePenalty: fields.presence_penalty,
    toolChoice: choice,
    parallelToolCalls: fields.parallel_tool_calls,
    reasoning: reasoning(fields.reasoning_effort, fields.thinking?.type, object?.depth),
    hidesThinking: object?.hides,
    verbosity: fields.verbosity,
    promptCacheKey: fields.prompt_cache_key,
    schema,
    saysSchema: (schema && saysSchema(schema, { system, turns })) || undefined,
    endUser: fields.user,
    stop: fields.stop ?? NONE,
    tools,
    json: fields.response_format !== undefined && fields.response_format.type !== 'text',
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? true,
  });
}

function readStop(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return readStopList(value, path);
  if (typeof value === 'string') return [readNonEmpty(value, path)];
  throw invalidRequest(path, `must be a string or an array of up to ${STOP_MAX} strings`);
}

function readResponseFormat(value: unknown, path: string) {
  const { type } = readFormatType(value, path);
  const given = type === 'json_schema' && isObject(value) ? value['json_schema'] : undefined;
  return { type, schema: readAnswerSchema(given) };
}

/** OpenRouter's object. Its budget is not applied, like that of the other format. */
function readReasoning(value: unknown) {
  if (!isObject(value)) return undefined;
  const { effort, enabled, max_tokens: budget, exclude } = value;
  return { depth: depthOf(effort, enabled, budget), hides: exclude === true ? true : undefined };
}

function depthOf(effort: unknown, enabled: unknown, budget: unknown): Reasoning | undefined {
  if (enabled === false || budget === 0) return 'off';
  if (isEffort(effort)) return EFFORT_REASONING[effort];
  return enabled === true || typeof budget === 'number' ? 'on' : undefined;
}

/** `thinking` may turn thinking off; otherwise the effort decides, and then the object. */
function reasoning(
  effort: Effort | undefined,
  thinking: 'enabled' | 'disabled' | 'adaptive' | undefined,
  depth: Reasoning | undefined,
): Reasoning | undefined {
  if (thinking === 'disabled') return 'off';
  if (effort !== undefined) return EFFORT_REASONING[effort];
  return depth ?? (thinking === undefined ? undefined : 'on');
}
