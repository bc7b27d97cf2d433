// Parses the chat-completions request body into the neutral request. FIELDS lists its members;
// messages have a file of their own. It must never echo a caller's value, and never let an unknown
// field change the generation.

import { Type } from '@sinclair/typebox';
import { EFFORTS, type Effort } from '../../core/effort.ts';
import { invalidRequest } from '../../core/error.ts';
import type { GenerationRequest, Reasoning, Tool, ToolChoice } from '../../core/generation.ts';
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
  readObject,
  readOutputLimit,
  readString,
  readToolName,
  requireBody,
  shape,
  withoutUndefined,
} from '../check.ts';
import { EFFORT_REASONING } from '../effort.ts';
import type { ParsedBody } from '../format.ts';
import { exceedsCharacters, MESSAGES_MAX, STOP_MAX, TOOLS_MAX, USER_MAX } from '../limits.ts';
import { assembleTurns } from '../turns.ts';
import { messageEntries, readMessage } from './message.ts';

const readPenalty = shape(Type.Number({ minimum: -2, maximum: 2 }));
const readStopList = listOf(readNonEmpty, { max: STOP_MAX });

const readTool = objectOf(
  {
    type: oneOf('function'),
    function: objectOf(
      {
        name: readToolName,
        description: readString,
        parameters: readObject,
      },
      ['name'],
    ),
  },
  ['type', 'function'],
);

const readFormatType = objectOf({ type: oneOf('text', 'json_object', 'json_schema') }, ['type']);

const TOOL_CHOICE = Type.Union([
  Type.Unsafe({ type: 'string', enum: ['none', 'auto', 'required'] }),
  Type.Object({
    type: Type.Literal('function'),
    function: Type.Object({ name: readNonEmpty.schema }),
  }),
]);

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
  tools: described(Type.Array(readTool.schema, { maxItems: TOOLS_MAX }), readTools),
  tool_choice: described(TOOL_CHOICE, readToolChoice),
  reasoning_effort: oneOf(...EFFORTS),
  thinking: objectOf({ type: oneOf('enabled', 'disabled') }, ['type']),
  user: described(Type.String({ maxLength: USER_MAX, pattern: '^[^\\u0000]*$' }), readUser),
  n: shape(Type.Literal(1)),
  /** Undocumented: a hint that is passed on, and ignored unless it is a boolean. */
  parallel_tool_calls: described(Type.Unknown(), (value) =>
    typeof value === 'boolean' ? value : undefined,
  ),
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
  const tools = fields.tools ?? NONE;
  return withoutUndefined<GenerationRequest>({
    model: fields.model,
    system,
    turns,
    maxOutputTokens: fields.max_completion_tokens ?? fields.max_tokens,
    temperature: fields.temperature,
    topP: fields.top_p,
    frequencyPenalty: fields.frequency_penalty,
    presencePenalty: fields.presence_penalty,
    toolChoice: usableChoice(fields.tool_choice, tools),
    parallelToolCalls: fields.parallel_tool_calls,
    reasoning: reasoning(fields.reasoning_effort, fields.thinking?.type),
    schema: fields.response_format?.schema,
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

/** NUL is refused because the id is stored, and some databases do not accept it in text. */
function readUser(value: unknown, path: string): string {
  const user = readString(value, path);
  if (exceedsCharacters([user], USER_MAX)) {
    throw invalidRequest(path, `must have at most ${USER_MAX} characters`);
  }
  if (user.includes('\0')) throw invalidRequest(path, 'must not contain the NUL character');
  return user;
}

function readTools(value: unknown, path: string): Tool[] {
  const names = new Set<string>();
  const read = described(readTool.schema, (item, itemPath): Tool => {
    const { name, description, parameters } = readTool(item, itemPath).function;
    if (names.has(name)) {
      throw invalidRequest(`${itemPath}.function.name`, 'is the name of an earlier tool too');
    }
    names.add(name);
    const tool = { name, parameters: parameters ?? { type: 'object', properties: {} } };
    return description === undefined ? tool : { ...tool, description };
  });
  return listOf(read, { max: TOOLS_MAX })(value, path);
}

/** Refusals always name `tool_choice`, whichever part of it is wrong. */
function readToolChoice(value: unknown, path: string): ToolChoice {
  if (value === 'none' || value === 'auto' || value === 'required') return { kind: value };
  const name = chosenName(value);
  if (typeof name === 'string' && name !== '') return { kind: 'tool', name };
  throw invalidRequest(
    path,
    'must be "none", "auto", "required" or {"type": "function", "function": {"name": …}}',
  );
}

function chosenName(value: unknown): unknown {
  if (!isObject(value) || value['type'] !== 'function') return undefined;
  const chosen = value['function'];
  return isObject(chosen) ? chosen['name'] : undefined;
}

/** Without tools there is nothing to choose from. */
function usableChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
): ToolChoice | undefined {
  if (choice === undefined) return undefined;
  if (choice.kind === 'tool' && !tools.some((tool) => tool.name === choice.name)) {
    throw invalidRequest('tool_choice', 'names a function that is not in tools');
  }
  if (tools.length > 0) return choice;
  if (choice.kind === 'required') throw invalidRequest('tool_choice', 'needs tools to choose from');
  return undefined;
}

/** Either field may turn thinking off; otherwise the effort decides. */
function reasoning(
  effort: Effort | undefined,
  thinking: 'enabled' | 'disabled' | undefined,
): Reasoning | undefined {
  if (thinking === 'disabled') return 'off';
  if (effort !== undefined) return EFFORT_REASONING[effort];
  return thinking === 'enabled' ? 'on' : undefined;
}
