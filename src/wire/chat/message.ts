// Parses one entry of `messages` in a chat-completions body: the fields that each role may have,
// and their meaning. Only the request parser calls it.

import { type TSchema, Type } from '@sinclair/typebox';
import { invalidRequest } from '../../core/error.ts';
import type {
  AssistantTurn,
  ContentPart,
  ImagePart,
  JsonObject,
  ToolTurn,
  Turn,
} from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import {
  checkMessageText,
  described,
  listOf,
  nullable,
  objectOf,
  oneOf,
  type Reader,
  readNonEmpty,
  readObject,
  readString,
} from '../check.ts';
import { imageFault } from '../image-type.ts';
import { MESSAGE_TEXT_MAX } from '../limits.ts';
import { TOOL_IMAGE_MARK, textPart } from '../turns.ts';
import { readToolCalls } from './tool-calls.ts';

/** A tool result may contain images, which only a user turn can hold. */
type PicturedResult = { readonly entry: ToolTurn; readonly images: readonly ImagePart[] };

type Message = Turn | PicturedResult;

const readRole = oneOf('system', 'developer', 'user', 'assistant', 'tool');

/** The upstream fetches it, never this process. */
const IMAGE_URL = Type.String({
  pattern: '^(?:[Hh][Tt][Tt][Pp][Ss]?://[^/\\s]|[Dd][Aa][Tt][Aa]:[^,]*,)',
  description: 'An http, https or data URL of a PNG, JPEG, GIF or WebP image.',
});
/** The address or the data of an image. */
export const readImageUrl = described(IMAGE_URL, (value, path): string => {
  const url = readString(value, path);
  const fault = imageFault(url);
  if (fault !== undefined) throw invalidRequest(path, fault);
  return url;
});
const readImage = objectOf({ url: readImageUrl }, ['url']);

const NAME_MAX = 64;

const NONE: readonly never[] = [];

const partsOf = (
  readType: Reader<'text' | 'image_url' | 'refusal'>,
  ...parts: readonly TSchema[]
) =>
  listOf(
    described(Type.Union([...parts]), (value, path): ContentPart => {
      const part = readObject(value, path);
      const type = readType(part['type'], `${path}.type`);
      if (type !== 'image_url') return textPart(readString(part[type], `${path}.${type}`));
      const image = part['image_url'];
      // Older clients send the URL itself.
      if (typeof image === 'string')
        return { kind: 'image', url: readImageUrl(image, `${path}.image_url`) };
      return { kind: 'image', url: readImage(image, `${path}.image_url`).url };
    }),
    { min: 1 },
  );
const TEXT_PART = Type.Object({ type: Type.Literal('text'), text: Type.String() });
const IMAGE_PART = Type.Object({
  type: Type.Literal('image_url'),
  image_url: Type.Union([readImage.schema, readImageUrl.schema]),
});
const REFUSAL_PART = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() });
const readTextParts = partsOf(oneOf('text'), TEXT_PART);
const readAssistantParts = partsOf(oneOf('text', 'refusal'), TEXT_PART, REFUSAL_PART);
const readAnyParts = partsOf(oneOf('text', 'image_url'), TEXT_PART, IMAGE_PART);

const READERS = {
  text: readTextParts,
  'text and images': readAnyParts,
  'text and refusals': readAssistantParts,
};
type Kinds = keyof typeof READERS;

const TEXT = Type.String({ maxLength: MESSAGE_TEXT_MAX });
const NO_PARTS = Type.Array(Type.Unknown(), { maxItems: 0 });
const CONTENT = Type.Union([TEXT, readAnyParts.schema]);
const TEXT_CONTENT = Type.Union([TEXT, readTextParts.schema]);
const ASSISTANT_CONTENT = Type.Union([TEXT, readAssistantParts.schema]);
const NO_CONTENT = Type.Optional(Type.Union([ASSISTANT_CONTENT, NO_PARTS, Type.Null()]));
const NO_CALLS = { tool_calls: Type.Optional(nullable(NO_PARTS)) };
const NAME = { name: Type.Optional(nullable(Type.String())) };
const ASSISTANT = {
  role: Type.Literal('assistant'),
  reasoning_content: Type.Optional(nullable(Type.String())),
  reasoning: Type.Optional(Type.Unknown()),
  reasoning_details: Type.Optional(Type.Unknown()),
  refusal: Type.Optional(nullable(TEXT)),
  ...NAME,
};
const CALLS = Type.Optional(nullable(readToolCalls.schema));

const MESSAGE = Type.Union(
  [
    Type.Object({
      role: Type.Unsafe({ type: 'string', enum: ['system', 'developer'] }),
      content: TEXT_CONTENT,
      ...NO_CALLS,
    }),
    Type.Object({ role: Type.Literal('user'), content: CONTENT, ...NAME, ...NO_CALLS }),
    Type.Object({ ...ASSISTANT, content: ASSISTANT_CONTENT, tool_calls: CALLS }),
    Type.Object({
      ...ASSISTANT,
      content: NO_CONTENT,
      tool_calls: { ...readToolCalls.schema, minItems: 1 },
    }),
    Type.Object({
      ...ASSISTANT,
      content: NO_CONTENT,
      refusal: Type.String({ minLength: 1, maxLength: MESSAGE_TEXT_MAX }),
      tool_calls: CALLS,
    }),
    Type.Object({
      role: Type.Literal('tool'),
      tool_call_id: readNonEmpty.schema,
      content: Type.Union([CONTENT, NO_PARTS]),
      ...NO_CALLS,
    }),
  ],
  { $id: 'ChatMessage' },
);

/** Reads one message, or throws `invalid_request` with the path of its first wrong field. */
export const readMessage = described(MESSAGE, (value, path): Message => {
  const message = readObject(value, path);
  const role = readRole(message['role'], `${path}.role`);
  if (role !== 'assistant') refuseToolCalls(message, path);
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', text: readText(message, path) };
    case 'user': {
      const name = readName(message, path);
      const parts = readContent(message, path, 'text and images');
      return name === '' ? { role, parts } : { role, name, parts };
    }
    case 'assistant':
      return readAssistant(message, path);
    case 'tool':
      return readToolResult(message, path);
  }
});

/**
 * The entries of a conversation. Images of tool results follow in a user turn after the last result
 * of the same run: between two results they would separate those from their calls.
 */
export function messageEntries(messages: readonly Message[]): readonly Turn[] {
  if (messages.every(isTurn)) return messages;
  const entries: Turn[] = [];
  let images: ImagePart[] = [];
  const flushImages = (): void => {
    if (images.length > 0) entries.push({ role: 'user', parts: images });
    images = [];
  };
  for (const message of messages) {
    const entry = isTurn(message) ? message : message.entry;
    if (entry.role !== 'tool') flushImages();
    entries.push(entry);
    if (!isTurn(message)) images.push(...message.images);
  }
  flushImages();
  return entries;
}

function isTurn(message: Message): message is Turn {
  return 'role' in message;
}

/** `content` may be null or absent only if there are tool calls or a refusal. */
function readAssistant(message: JsonObject, path: string): AssistantTurn {
  const calls = message['tool_calls'] ?? null;
  const toolCalls = calls === null ? NONE : readToolCalls(calls, `${path}.tool_calls`);
  const refusal = readString(message['refusal'] ?? '', `${path}.refusal`);
  checkMessageText([refusal], `${path}.refusal`);
  const content = message['content'] ?? null;
  const mayBeEmpty = toolCalls.length > 0 || refusal !== '';
  const isEmpty = mayBeEmpty && (content === null || hasNoParts(content));
  const said = isEmpty ? '' : readText(message, path, 'text and refusals');
  const text = [said, refusal].filter((part) => part !== '').join('\n');
  const name = readName(message, path);
  const reasoning = readThinking(message, path);
  const turn: AssistantTurn = { role: 'assistant', reasoning, text, toolCalls };
  return name === '' ? turn : { ...turn, name };
}

/** The field of DeepSeek, else that of vLLM and OpenRouter, else the text of OpenRouter's details. */
function readThinking(message: JsonObject, path: string): string {
  const given = readString(message['reasoning_content'] ?? '', `${path}.reasoning_content`);
  if (given !== '') return given;
  const { reasoning, reasoning_details: details } = message;
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  if (!Array.isArray(details)) return '';
  return details.map(detailText).join('');
}

/** Encrypted details have no text. */
function detailText(detail: unknown): string {
  if (!isObject(detail)) return '';
  const { type, text, summary } = detail;
  const said = type === 'reasoning.text' ? text : type === 'reasoning.summary' ? summary : '';
  return typeof said === 'string' ? said : '';
}

/**
 * The speaker's name; empty if absent. The strictest server accepts 64 characters without white
 * space and `<`, `|`, `\`, `/`, `>`. Other characters become `_`, so that speakers stay distinct.
 */
function readName(message: JsonObject, path: string): string {
  if ((message['name'] ?? '') === '') return '';
  const given = readString(message['name'], `${path}.name`);
  return Array.from(given.replace(/[\s<|\\/>\p{Cc}]+/gu, '_').slice(0, 2 * NAME_MAX))
    .slice(0, NAME_MAX)
    .join('');
}

function readToolResult(message: JsonObject, path: string): Message {
  const isEmpty = hasNoParts(message['content']);
  const parts = isEmpty ? NONE : readContent(message, path, 'text and images');
  const entry: ToolTurn = {
    role: 'tool',
    toolCallId: readNonEmpty(message['tool_call_id'], `${path}.tool_call_id`),
    text: parts.map(resultText).join('\n'),
    isError: false,
  };
  const images = parts.filter((part) => part.kind === 'image');
  return images.length === 0 ? entry : { entry, images };
}

function readText(message: JsonObject, path: string, kinds: Kinds = 'text'): string {
  const content = message['content'];
  if (typeof content !== 'string') {
    return readContent(message, path, kinds).map(partText).join('\n');
  }
  checkMessageText([content], `${path}.content`);
  return content;
}

function readContent(message: JsonObject, path: string, kinds: Kinds): ContentPart[] {
  const param = `${path}.content`;
  const content = message['content'];
  const parts = readParts(content, param, kinds);
  checkMessageText(parts.map(partText), param);
  return parts;
}

function readParts(content: unknown, param: string, kinds: Kinds) {
  if (typeof content === 'string') return [textPart(content)];
  if (content === undefined) throw invalidRequest(param, 'is required');
  if (content === null) {
    throw invalidRequest(param, 'must not be null, unless an assistant message has tool_calls');
  }
  if (!Array.isArray(content)) {
    throw invalidRequest(param, 'must be a string or an array of parts');
  }
  return READERS[kinds](content, param);
}

/** Libraries send this for a tool without a result, and for a turn with nothing but calls. */
function hasNoParts(content: unknown): boolean {
  return Array.isArray(content) && content.length === 0;
}

function refuseToolCalls(message: JsonObject, path: string): void {
  const calls = message['tool_calls'] ?? null;
  if (calls === null || (Array.isArray(calls) && calls.length === 0)) return;
  throw invalidRequest(`${path}.tool_calls`, 'is allowed on assistant messages only');
}

function partText(part: ContentPart): string {
  return part.kind === 'text' ? part.text : '';
}

function resultText(part: ContentPart): string {
  return part.kind === 'text' ? part.text : TOOL_IMAGE_MARK;
}
