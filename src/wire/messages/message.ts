// Parses one entry of `messages` in a Messages body, and the system prompt: the blocks that each
// role may have, and their meaning. Blocks of unknown types are ignored everywhere. A tool's input
// is never parsed: it stays text.

import { Type } from '@sinclair/typebox';
import { invalidRequest } from '../../core/error.ts';
import type { ContentPart, ImagePart, JsonObject, ToolTurn, Turn } from '../../core/generation.ts';
import {
  checkMessageText,
  described,
  listOf,
  objectOf,
  oneOf,
  readNonEmpty,
  readObject,
  readString,
} from '../check.ts';
import { TOOL_IMAGE_MARK } from '../turns.ts';
import { readImage } from './image.ts';
import { MESSAGE, RESULT_CONTENT, SYSTEM } from './request-content.ts';
import { refuseFile, resultTexts } from './result-text.ts';
import { decodeToolId } from './tool-id.ts';

/** A call whose input is not located yet: `block` is its index in the message. */
type Call = { readonly id: string; readonly name: string; readonly block: number };

export type Message =
  | { readonly role: 'system'; readonly text: string }
  | {
      readonly role: 'user';
      readonly results: readonly ToolTurn[];
      readonly parts: readonly ContentPart[];
    }
  | {
      readonly role: 'assistant';
      readonly reasoning: string;
      readonly text: string;
      readonly calls: readonly Call[];
    };

type Block = { readonly type: string; readonly fields: JsonObject; readonly path: string };

/**
 * One client prepends a text that differs on every call to its system prompt. It is irrelevant to
 * the model and would defeat an upstream's prefix cache.
 */
const CHANGING_LINE = 'x-anthropic-billing-header';

const readRole = oneOf('system', 'user', 'assistant');
const readToolUse = objectOf({ id: readNonEmpty, name: readNonEmpty, input: readObject }, [
  'id',
  'name',
]);

const readToolResult = objectOf(
  {
    tool_use_id: readNonEmpty,
    content: described(RESULT_CONTENT, (value, path) => readBlocks(value, path)),
  },
  ['tool_use_id'],
);
const readRoleAndContent = objectOf(
  { role: readRole, content: described(Type.Unknown(), readBlocks) },
  ['role', 'content'],
);

/** Reads one message, or throws `invalid_request` with the path of its first wrong field. */
export const readMessage = described(MESSAGE, (value, path): Message => {
  const { role, content } = readRoleAndContent(value, path);
  switch (role) {
    case 'system':
      return { role, text: systemText(content, `${path}.content`) };
    case 'user':
      return userMessage(content, `${path}.content`);
    case 'assistant':
      return assistantMessage(content, `${path}.content`);
  }
});

/** The `system` field: a string, or text blocks, joined with a blank line. */
export const readSystem = described(SYSTEM, (value, path): string => {
  return systemParts(readBlocks(value, path)).join('\n\n');
});

/**
 * The entries of the conversation: for a user message, first its tool results, then the rest.
 * `inputs` has the source of each tool input by message and block, such as `3.0`.
 */
export function messageEntries(
  messages: readonly Message[],
  inputs: ReadonlyMap<string, string>,
): Turn[] {
  const entries: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'system':
        entries.push(message);
        break;
      case 'user': {
        const { role, results, parts } = message;
        for (const result of results) entries.push(result);
        if (parts.length > 0) entries.push({ role, parts });
        break;
      }
      case 'assistant': {
        const { role, reasoning, text, calls } = message;
        if (reasoning === '' && text === '' && calls.length === 0) break;
        const toolCalls = calls.map(({ id, name, block }) => {
          return { id, name, arguments: inputText(inputs.get(`${index}.${block}`)) };
        });
        const lacksLate = reasoning !== '' && text !== '' && toolCalls.length > 0;
        entries.push({ role, reasoning, text, toolCalls, ...(lacksLate && { lacksLate }) });
      }
    }
  }
  return entries;
}

/** An absent or null input is empty. */
function inputText(source: string | undefined): string {
  return source === undefined || source === 'null' ? '{}' : source;
}

function systemText(blocks: readonly Block[], path: string): string {
  const parts = systemParts(blocks);
  checkMessageText(parts, path);
  return parts.join('\n\n');
}

function systemParts(blocks: readonly Block[]): string[] {
  return texts(blocks)
    .map((text) => (text.startsWith(CHANGING_LINE) ? text.replace(/^[^\n]*\n*/, '') : text))
    .filter((text) => text !== '');
}

function userMessage(blocks: readonly Block[], path: string): Message {
  const results: ToolTurn[] = [];
  const images: ImagePart[] = [];
  const parts: ContentPart[] = [];
  /** The caller's own, without what we put between and in the place of it. */
  const ownTexts: string[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case 'text': {
        const text = textOf(block);
        ownTexts.push(text);
        if (text !== '') parts.push({ kind: 'text', text });
        break;
      }
      case 'image':
        parts.push(readImage(block.fields['source'], `${block.path}.source`));
        break;
      case 'document':
      case 'search_result':
        if (block.type === 'document') refuseFile(block.fields, block.path);
        for (const text of resultTexts(block.type, block.fields)) {
          ownTexts.push(text);
          parts.push({ kind: 'text', text });
        }
        break;
      case 'tool_result':
        results.push(toolResult(block, images, ownTexts));
        break;
      case 'tool_use':
        throw invalidRequest(`${block.path}.type`, 'tool_use is for assistant messages only');
    }
  }
  checkMessageText(ownTexts, path);
  if (blocks.length === 0) throw invalidRequest(path, 'must have at least 1 block');
  // Without text and results it is an empty turn, like an empty string in both formats.
  if (results.length === 0 && parts.length === 0) parts.push({ kind: 'text', text: '' });
  return { role: 'user', results, parts: images.length === 0 ? parts : [...images, ...parts] };
}

function assistantMessage(blocks: readonly Block[], path: string): Message {
  let reasoning = '';
  let text = '';
  const calls: Call[] = [];
  for (const [index, block] of blocks.entries()) {
    switch (block.type) {
      case 'text':
        text += textOf(block);
        break;
      case 'thinking':
        reasoning += thinkingOf(block);
        break;
      case 'tool_use': {
        const { id, name } = readToolUse(block.fields, block.path);
        calls.push({ id: decodeToolId(id), name, block: index });
        break;
      }
      case 'tool_result':
      case 'image':
        throw invalidRequest(`${block.path}.type`, `${block.type} is for user messages only`);
    }
  }
  checkMessageText([text], path);
  return { role: 'assistant', reasoning, text, calls };
}

/** Text only: its images move to `images`, with a mark in their place. Adds to `ownTexts`. */
function toolResult(block: Block, images: ImagePart[], ownTexts: string[]): ToolTurn {
  const { tool_use_id: id, content = [] } = readToolResult(block.fields, block.path);
  const lines: string[] = [];
  for (const inner of content) {
    if (inner.type === 'image') {
      images.push(readImage(inner.fields['source'], `${inner.path}.source`));
      lines.push(TOOL_IMAGE_MARK);
      continue;
    }
    const found = inner.type === 'text' ? [textOf(inner)] : resultTexts(inner.type, inner.fields);
    for (const text of found) {
      lines.push(text);
      ownTexts.push(text);
    }
  }
  return {
    role: 'tool',
    toolCallId: decodeToolId(id),
    text: lines.join('\n'),
    isError: block.fields['is_error'] === true,
  };
}

/** A string is equivalent to one text block. */
function readBlocks(value: unknown, path: string): Block[] {
  if (typeof value === 'string') return [{ type: 'text', fields: { text: value }, path }];
  if (Array.isArray(value)) return readBlockList(value, path);
  throw invalidRequest(path, 'must be a string or an array of blocks');
}

const readBlockList = listOf(
  described(Type.Object({ type: Type.String() }), (value, path): Block => {
    const fields = readObject(value, path);
    return { type: readString(fields['type'], `${path}.type`), fields, path };
  }),
  {},
);

/**
 * The text of a thinking block. Its signature is ignored: ours is the same on every block, and an
 * upstream's is only valid for thinking that is known to come from that upstream, which a client
 * cannot prove. The text may be empty if a client does not return thinking.
 */
function thinkingOf(block: Block): string {
  return readString(block.fields['thinking'], `${block.path}.thinking`);
}

function texts(blocks: readonly Block[]): string[] {
  return blocks.filter((block) => block.type === 'text').map(textOf);
}

function textOf(block: Block): string {
  return readString(block.fields['text'], `${block.path}.text`);
}
