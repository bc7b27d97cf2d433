// Parses the `input` of a Responses body: the items that it may hold, and the turns that they make.
// Thinking, text and calls are items of their own here, and one turn of an assistant everywhere else.

import { type TSchema, Type } from '@sinclair/typebox';
import { invalidRequest } from '../../core/error.ts';
import type {
  ContentPart,
  ImagePart,
  JsonObject,
  SystemTurn,
  Tool,
  ToolCall,
  ToolTurn,
  Turn,
  UserTurn,
} from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import {
  described,
  listOf,
  nullable,
  objectOf,
  oneOf,
  readNonEmpty,
  readObject,
  readString,
} from '../check.ts';
import { customArguments } from '../custom-input.ts';
import { MESSAGES_MAX } from '../limits.ts';
import { TOOL_IMAGE_MARK } from '../turns.ts';
import { partText, readContent, TEXT_CONTENT } from './request-content.ts';
import { joinedName, readTools } from './tools.ts';

/** `images`: a result may contain them, which only a user's turn can hold. */
type Item =
  | { readonly kind: 'turn'; readonly turn: UserTurn | SystemTurn }
  | { readonly kind: 'said' | 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ToolCall }
  | { readonly kind: 'result'; readonly turn: ToolTurn; readonly images: readonly ImagePart[] }
  | { readonly kind: 'tools'; readonly tools: readonly Tool[] };

const BLANK_LINE = '\n\n';

const readRole = oneOf('user', 'assistant', 'system', 'developer');
const NAME = { name: readNonEmpty, namespace: readString };
const readFunctionCall = objectOf({ call_id: readNonEmpty, ...NAME, arguments: readString }, [
  'call_id',
  'name',
  'arguments',
]);
const readCustomCall = objectOf({ call_id: readNonEmpty, ...NAME, input: readString }, [
  'call_id',
  'name',
  'input',
]);
/** Programs send results that the model has not called for without the id of a call. */
const readOutput = objectOf({ call_id: readNonEmpty, output: readContent }, ['output']);
const readMoreTools = objectOf({ tools: readTools }, ['tools']);

const COMPACTED =
  'holds a conversation that only the service which compacted it can read; send the items themselves';

/** History that is kept elsewhere: without it, half a conversation would be answered. */
const ABSENT: ReadonlyMap<string, string> = new Map([
  [
    'item_reference',
    'refers to an item that is kept elsewhere, and this service keeps none; send the whole item, which clients do with store set to false',
  ],
  ['compaction', COMPACTED],
  // Codex.
  ['compaction_summary', COMPACTED],
  ['context_compaction', COMPACTED],
  ['compaction_trigger', 'asks for a compaction, which is not offered; ask for a summary instead'],
]);
const KNOWN = [
  ...['message', 'function_call', 'function_call_output', 'reasoning', 'additional_tools'],
  ...['custom_tool_call', 'custom_tool_call_output'],
];

const typed = (schema: TSchema, ...types: readonly string[]): TSchema =>
  Type.Intersect([Type.Object({ type: Type.Unsafe({ enum: types }) }), schema]);
const MESSAGE_TYPE = { type: Type.Optional(Type.Unsafe({ enum: ['message', null] })) };
/** Thinking is the one item that is kept: it is put back where a client leaves it out. */
const THINKING_REFERENCE = Type.Object({
  type: Type.Optional(Type.Unsafe({ enum: ['item_reference', null] })),
  id: Type.String({ pattern: '^rs_' }),
});
const ITEM = Type.Union(
  [
    Type.Object({ ...MESSAGE_TYPE, role: Type.Literal('user'), content: readContent.schema }),
    Type.Object({
      ...MESSAGE_TYPE,
      role: Type.Unsafe({ enum: ['assistant', 'system', 'developer'] }),
      content: TEXT_CONTENT,
    }),
    typed(readFunctionCall.schema, 'function_call'),
    typed(readCustomCall.schema, 'custom_tool_call'),
    typed(readOutput.schema, 'function_call_output', 'custom_tool_call_output'),
    typed(
      Type.Object({
        summary: Type.Optional(Type.Unknown()),
        content: Type.Optional(Type.Unknown()),
        encrypted_content: Type.Optional(nullable(Type.String())),
      }),
      'reasoning',
    ),
    typed(readMoreTools.schema, 'additional_tools'),
    THINKING_REFERENCE,
    Type.Object(
      { type: Type.Unsafe({ type: 'string', not: { enum: [...KNOWN, ...ABSENT.keys()] } }) },
      { description: 'An item of a tool that OpenAI runs. It is ignored.' },
    ),
  ],
  { $id: 'ResponseInputItem' },
);

const readItems = listOf(described(ITEM, readItem), {});

/** The `input` of a body: a text of the user, or items. */
export const readInput = described(
  Type.Union([Type.String(), Type.Array(ITEM)]),
  (value, path): readonly Item[] => {
    if (typeof value === 'string') return [userItem(readContent(value, path))];
    if (!Array.isArray(value)) throw invalidRequest(path, 'must be a string or an array of items');
    const messages = value.filter((item) => isObject(item) && typeOf(item) === 'message').length;
    if (messages > MESSAGES_MAX) {
      throw invalidRequest(path, `has ${messages} messages; at most ${MESSAGES_MAX} are allowed`);
    }
    return readItems(value, path).filter((item) => item !== undefined);
  },
);

/** The tools that items add to those of the body. */
export function itemTools(items: readonly Item[]): readonly Tool[] {
  return items.flatMap((item) => (item.kind === 'tools' ? item.tools : []));
}

/**
 * The turns of a conversation. What an assistant thought, said and called in a row is one turn, but
 * for two messages side by side. Images of results follow the last result of the same run.
 */
export function itemTurns(items: readonly Item[]): readonly Turn[] {
  const turns: Turn[] = [];
  let images: ImagePart[] = [];
  let answer: OpenAnswer | undefined;

  function close(): void {
    // Thinking alone belongs to an answer that broke off.
    if (answer !== undefined && (answer.text !== '' || answer.toolCalls.length > 0)) {
      const { reasoning, text, toolCalls } = answer;
      turns.push({ role: 'assistant', reasoning, text, toolCalls });
    }
    answer = undefined;
    if (images.length > 0) turns.push({ role: 'user', parts: images });
    images = [];
  }

  for (const item of items) {
    switch (item.kind) {
      case 'turn':
        close();
        turns.push(item.turn);
        break;
      case 'result':
        if (answer !== undefined) close();
        turns.push(item.turn);
        images.push(...item.images);
        break;
      case 'tools':
        break;
      default:
        if (answer === undefined || (answer.last === 'said' && item.kind === 'said')) close();
        answer ??= { reasoning: '', text: '', toolCalls: [], last: item.kind };
        addTo(answer, item);
    }
  }
  close();
  return turns;
}

type Spoken = Extract<Item, { readonly kind: 'said' | 'thought' | 'call' }>;

type OpenAnswer = {
  reasoning: string;
  text: string;
  readonly toolCalls: ToolCall[];
  last: Spoken['kind'];
};

function addTo(answer: OpenAnswer, item: Spoken): void {
  answer.last = item.kind;
  if (item.kind === 'call') answer.toolCalls.push(item.call);
  else if (item.kind === 'said') answer.text += item.text;
  else answer.reasoning += item.text;
}

function readItem(value: unknown, path: string): Item | undefined {
  const item = readObject(value, path);
  const type = typeOf(item);
  switch (type) {
    case 'message':
      return readMessage(item, path);
    case 'function_call': {
      const { arguments: json, ...call } = readFunctionCall(item, path);
      return callItem(call, json);
    }
    case 'custom_tool_call': {
      const { input, ...call } = readCustomCall(item, path);
      return callItem(call, customArguments(input));
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return resultItem(readOutput(item, path));
    case 'reasoning':
      return { kind: 'thought', text: thinkingOf(item) };
    case 'additional_tools':
      return { kind: 'tools', tools: readMoreTools(item, path).tools };
    default: {
      const absent = ABSENT.get(readString(type, `${path}.type`));
      const { id } = item;
      const isThinking =
        type === 'item_reference' && typeof id === 'string' && id.startsWith('rs_');
      if (absent !== undefined && !isThinking) throw invalidRequest(path, absent);
      return undefined;
    }
  }
}

/** The vendor's types let messages and references leave it out. */
function typeOf({ type, id, role }: JsonObject): unknown {
  return type ?? (id === undefined || role !== undefined ? 'message' : 'item_reference');
}

function readMessage(item: JsonObject, path: string): Item {
  const role = readRole(item['role'], `${path}.role`);
  const parts = readContent(item['content'], `${path}.content`);
  if (role === 'user') return userItem(parts);
  const image = parts.findIndex((part) => part.kind === 'image');
  if (image !== -1) {
    throw invalidRequest(`${path}.content[${image}].type`, 'input_image is for user messages only');
  }
  const texts = parts.map(partText);
  if (role === 'assistant') return { kind: 'said', text: texts.join('\n') };
  return { kind: 'turn', turn: { role: 'system', text: texts.join('\n') } };
}

function userItem(parts: readonly ContentPart[]): Item {
  return { kind: 'turn', turn: { role: 'user', parts } };
}

type NamedCall = {
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string | undefined;
};

function callItem({ call_id: id, name, namespace = '' }: NamedCall, json: string): Item {
  const whole = namespace === '' ? name : joinedName(namespace, name);
  return { kind: 'call', call: { id, name: whole, arguments: json } };
}

function resultItem({ call_id: toolCallId = '', output }: ReturnType<typeof readOutput>): Item {
  const text = output
    .map((part) => (part.kind === 'text' ? part.text : TOOL_IMAGE_MARK))
    .join('\n');
  const images = output.filter((part) => part.kind === 'image');
  return { kind: 'result', turn: { role: 'tool', toolCallId, text, isError: false }, images };
}

/**
 * The text of a reasoning item: the thinking itself where it is shown, else its summary. What is
 * encrypted is ours, the same in every item, or another service's: neither is read.
 */
function thinkingOf({ content, summary }: JsonObject): string {
  return thinkingTexts(content).join('') || thinkingTexts(summary).join(BLANK_LINE);
}

function thinkingTexts(parts: unknown): readonly string[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part) =>
    isObject(part) && typeof part['text'] === 'string' ? part['text'] : [],
  );
}
