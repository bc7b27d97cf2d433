// Parses the Messages request body into the neutral request. FIELDS lists its members; messages
// have a file of their own. It must never echo a caller's value, and never let an unknown field
// change the generation.

import { Type } from '@sinclair/typebox';
import { saysSchema } from '../../core/answer-format.ts';
import { isEffort } from '../../core/effort.ts';
import { GatewayError, invalidRequest } from '../../core/error.ts';
import type { AnswerSchema, GenerationRequest, Reasoning } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import { readAnswerSchema } from '../answer-schema.ts';
import {
  described,
  fieldsSchema,
  listOf,
  objectOf,
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
import { valueSources } from '../json-source.ts';
import { MESSAGES_MAX, STOP_MAX, USER_MAX } from '../limits.ts';
import { assembleTurns } from '../turns.ts';
import { type Message, messageEntries, readMessage, readSystem } from './message.ts';
import { distinctTools, readChoice, readTools, toolChoice } from './tools.ts';

const OWN_HISTORY = Type.Unsafe({
  not: { type: 'object', properties: { type: { const: 'continue' } }, required: ['type'] },
});

/** Undocumented by the contract, so other values are ignored. */
const readDisplay = described(Type.Unknown(), (value) => value);

const FIELDS = {
  model: readNonEmpty,
  max_tokens: readOutputLimit('max_tokens'),
  messages: listOf(readMessage, { min: 1, max: MESSAGES_MAX }),
  system: readSystem,
  temperature: shape(Type.Number({ minimum: 0, maximum: 1 })),
  top_p: shape(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  stop_sequences: listOf(readNonEmpty, { max: STOP_MAX }),
  stream: readBoolean,
  tools: readTools,
  tool_choice: readChoice,
  /** The budget is not applied, so any value is accepted: agents do send -1. */
  thinking: objectOf(
    { type: readString, budget_tokens: shape(Type.Number()), display: readDisplay },
    [],
  ),
  metadata: objectOf(
    { user_id: described(Type.String({ pattern: '^[^\\u0000]*$' }), readUserId) },
    [],
  ),
  thread: described(OWN_HISTORY, requireOwnHistory),
  /** Undocumented, so nothing in it is refused. */
  output_config: described(Type.Unknown(), (value) => (isObject(value) ? value : {})),
  /** The beta name of `output_config.format`, which older clients still send. */
  output_format: described(Type.Unknown(), (value) => value),
};

const REQUIRED = ['model', 'max_tokens', 'messages'] as const;
const REQUIRED_TO_COUNT = ['model', 'messages'] as const;

/** The schema of a body in the API description. */
export const messagesBody = fieldsSchema(FIELDS, REQUIRED, { $id: 'MessagesRequest' });
export const countBody = fieldsSchema(FIELDS, REQUIRED_TO_COUNT, { $id: 'CountTokensRequest' });

const NONE: readonly never[] = [];

/** Types of `thinking` that turn it on; the first is documented, clients send the others. */
const THINKING_ON: readonly unknown[] = ['enabled', 'adaptive', 'between_tools'];

/**
 * Some clients rely on history stored by the server and send only new messages. No history is
 * stored here: ignoring that would answer half a conversation, and an agent would loop forever,
 * charged each time. The hint makes such a client resend the whole conversation.
 */
function requireOwnHistory(value: unknown, path: string): undefined {
  if (!isObject(value) || value['type'] !== 'continue') return undefined;
  throw new GatewayError('invalid_request', {
    param: path,
    message: `${path}: this service keeps no conversations. Send all messages, without a thread to continue.`,
    hint: 'thread_not_found',
  });
}

/** Reads a Messages body. Throws `invalid_request` with the first wrong field as `param`. */
export function parseMessages(body: ParsedBody): GenerationRequest {
  return toRequest(readFields(requireBody(body.value), '', FIELDS, REQUIRED), body);
}

/** Parses the body of a token count: the same, but `max_tokens` may be absent. */
export function parseCount(body: ParsedBody): GenerationRequest {
  return toRequest(readCountFields(body), body);
}

function readCountFields(body: ParsedBody) {
  return readFields(requireBody(body.value), '', FIELDS, REQUIRED_TO_COUNT);
}

type Fields = ReturnType<typeof readCountFields>;

function toRequest(fields: Fields, body: ParsedBody): GenerationRequest {
  const entries = messageEntries(fields.messages, toolInputs(fields.messages, body));
  const { system, turns } = assembleTurns(entries);
  if (turns.length === 0) {
    throw invalidRequest('messages', 'must have a user or assistant message that is not empty');
  }
  const tools = fields.tools === undefined ? NONE : distinctTools(fields.tools);
  const choice = tools.length === 0 ? undefined : fields.tool_choice;
  const schema = answerSchema(fields.output_config?.['format'] ?? fields.output_format);
  const prompt = [fields.system ?? '', system].filter((part) => part !== '').join('\n\n');
  return withoutUndefined<GenerationRequest>({
    model: fields.model,
    system: prompt,
    turns,
    maxOutputTokens: fields.max_tokens,
    temperature: fields.temperature,
    topP: fields.top_p,
    toolChoice: choice === undefined ? undefined : toolChoice(choice, tools),
    parallelToolCalls: choice?.disable_parallel_tool_use === true ? false : undefined,
    reasoning: reasoning(fields.thinking?.type, fields.output_config?.['effort']),
    hidesThinking: fields.thinking?.display === 'omitted' ? true : undefined,
    schema,
    saysSchema: (schema && saysSchema(schema, { system: prompt, turns })) || undefined,
    endUser: fields.metadata?.user_id,
    stop: fields.stop_sequences ?? NONE,
    tools,
    json: schema !== undefined,
    stream: fields.stream ?? false,
    includeUsage: true,
  });
}

const INPUT_PATH = ['messages', '*', 'content', '*', 'input'] as const;

const NO_INPUTS: ReadonlyMap<string, string> = new Map();

/** The scan is a pass over the body, so it runs only if a message has a call. */
function toolInputs(messages: readonly Message[], body: ParsedBody): ReadonlyMap<string, string> {
  const called = messages.some(
    (message) => message.role === 'assistant' && message.calls.length > 0,
  );
  return called ? valueSources(body.text, INPUT_PATH) : NO_INPUTS;
}

/** A schema for the answer; other kinds of formats are ignored. */
function answerSchema(format: unknown): AnswerSchema | undefined {
  return isObject(format) && format['type'] === 'json_schema'
    ? readAnswerSchema(format)
    : undefined;
}

/**
 * Either field may turn thinking off, and only `thinking` turns it on. In this format, effort sets
 * the depth of thinking and, without thinking, the length of the answer. Unknown types and efforts
 * are ignored.
 */
function reasoning(type: string | undefined, effort: unknown): Reasoning | undefined {
  if (type === 'disabled' || effort === 'none') return 'off';
  if (!THINKING_ON.includes(type)) return undefined;
  return isEffort(effort) ? EFFORT_REASONING[effort] : 'on';
}

/**
 * Clients put whole JSON texts here, so a long value is truncated instead of refused. NUL is
 * refused because the id is stored, and some databases do not accept it in text.
 */
function readUserId(value: unknown, path: string): string {
  const user = readString(value, path);
  if (user.includes('\0')) throw invalidRequest(path, 'must not contain the NUL character');
  if (user.length <= USER_MAX) return user;
  return Array.from(user.slice(0, 2 * USER_MAX))
    .slice(0, USER_MAX)
    .join('');
}
