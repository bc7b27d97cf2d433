// Writes the `messages` of a Messages request as JSON text: tool inputs are inserted byte for byte.
// The turns are already in order. Appending turns leaves earlier output unchanged, because
// upstreams cache prompt prefixes.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type {
  AssistantTurn,
  ContentPart,
  ImagePart,
  ThinkingBlock,
  ToolCall,
  ToolTurn,
  Turn,
} from '../../../core/generation.ts';
import { parseJson } from '../../../core/json.ts';
import type { MessagesProfile } from '../../../core/profile.ts';
import type { UpstreamCall } from '../../format.ts';
import { toolInput } from '../../tool-input.ts';
import { unsupported } from '../failure.ts';
import { toObject } from '../narrow.ts';
import { toolIdFor } from '../tool-id.ts';
import { type OwnThinking, ownThinking, piecesOf, type TurnPiece } from '../turn-pieces.ts';
import { markEnds } from './cache-marks.ts';
import { type ImageSource, imageSource } from './image.ts';

type Role = 'user' | 'assistant' | 'system';

/** One message; each block is JSON text. */
type Message = { readonly role: Role; readonly blocks: string[] };

/** A conversation must begin with a user turn. */
const OPENING = textBlock('Continue.');

/** Vendors refuse an error result without text. */
const UNEXPLAINED_ERROR = 'The tool failed.';

/** A turn of white space alone is omitted, because it cannot become a message. */
export function saysSomething(turn: Turn): boolean {
  switch (turn.role) {
    case 'user':
      return turn.parts.some((part) => part.kind === 'image' || part.text.trim() !== '');
    case 'assistant':
      return turn.toolCalls.length > 0 || turn.text.trim() !== '';
    case 'system':
      return turn.text.trim() !== '';
    case 'tool':
      return true;
  }
}

/**
 * Merges consecutive turns of the same role, so that all results of one assistant turn are in the
 * next message, followed by the user's text. None of the turns may be empty.
 */
export function writeTurns(
  turns: readonly Turn[],
  call: UpstreamCall,
  profile: MessagesProfile,
  marks: boolean,
): string | UpstreamFailure {
  const sources = readImages(turns);
  const refused = refuseImages(sources, profile);
  if (refused !== undefined) return refused;
  const messages: Message[] = [];
  turns.forEach((turn, index) => {
    const role = turn.role === 'tool' ? 'user' : turn.role;
    const blocks = turnBlocks(turn, index === turns.length - 1, call, profile, sources);
    const last = messages.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else messages.push({ role, blocks });
  });
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', blocks: [OPENING] });
  if (marks) markEnds(messages);
  const isText = profile.contentParts === 'never';
  return `[${messages.map((message) => writeMessage(message, isText)).join(',')}]`;
}

function writeMessage({ role, blocks }: Message, isText: boolean): string {
  const content = (isText ? oneText(blocks) : undefined) ?? `[${blocks.join(',')}]`;
  return `{"role":"${role}","content":${content}}`;
}

/** Blocks of text as one string; undefined if there are others, which only an array can hold. */
function oneText(blocks: readonly string[]): string | undefined {
  const texts = blocks.map((block) => toObject(parseJson(block))['text']);
  return texts.includes(undefined) ? undefined : JSON.stringify(texts.join('\n'));
}

/** Each image is read once: its data may be as long as the whole request. */
type ImageSources = ReadonlyMap<ImagePart, ImageSource | undefined>;

function readImages(turns: readonly Turn[]): ImageSources {
  const sources = new Map<ImagePart, ImageSource | undefined>();
  for (const turn of turns) {
    if (turn.role !== 'user') continue;
    for (const part of turn.parts) {
      if (part.kind === 'image') sources.set(part, imageSource(part.url));
    }
  }
  return sources;
}

function refuseImages(
  sources: ImageSources,
  profile: MessagesProfile,
): UpstreamFailure | undefined {
  const images = [...sources.values()];
  if (images.length > 0 && profile.contentParts === 'never') {
    return unsupported('this upstream takes no images');
  }
  if (images.includes(undefined)) return unsupported('an image that is no PNG, JPEG, GIF or WebP');
  if (profile.imageUrls !== 'data' || images.every((image) => image?.type === 'base64')) {
    return undefined;
  }
  return unsupported('this upstream takes images only as data');
}

function turnBlocks(
  turn: Turn,
  isLast: boolean,
  call: UpstreamCall,
  profile: MessagesProfile,
  sources: ImageSources,
): string[] {
  switch (turn.role) {
    case 'user':
      return turn.parts.flatMap((part) => partBlocks(part, sources));
    case 'system':
      return textBlocks(turn.text);
    case 'tool':
      return [resultBlock(turn, profile)];
    case 'assistant':
      return assistantBlocks(turn, isLast, call, profile);
  }
}

function partBlocks(part: ContentPart, sources: ImageSources): string[] {
  if (part.kind === 'text') return textBlocks(part.text);
  return [JSON.stringify({ type: 'image', source: sources.get(part) })];
}

/** Vendors refuse text of white space alone. */
function textBlocks(text: string): string[] {
  return text.trim() === '' ? [] : [textBlock(text)];
}

function textBlock(text: string): string {
  return JSON.stringify({ type: 'text', text });
}

function resultBlock({ toolCallId, text, isError }: ToolTurn, profile: MessagesProfile): string {
  const said = text.trim() === '' ? profile.emptyToolResult : text;
  const content = said === '' && isError ? UNEXPLAINED_ERROR : said;
  return JSON.stringify({
    type: 'tool_result',
    tool_use_id: toolIdFor(profile.toolIds, toolCallId),
    content: content === '' ? undefined : content,
    is_error: isError ? true : undefined,
  });
}

/** In the order of the answer: thinking, text and calls, as the model produced them. */
function assistantBlocks(
  turn: AssistantTurn,
  isLast: boolean,
  call: UpstreamCall,
  profile: MessagesProfile,
): string[] {
  // A prefilled answer must not end with white space.
  const text = isLast && turn.toolCalls.length === 0 ? turn.text.trimEnd() : turn.text;
  const said = { text, toolCalls: turn.toolCalls };
  // Thinking alone is not a message, and no server accepts it in a prefilled answer.
  const isAlone = text.trim() === '' && turn.toolCalls.length === 0;
  const bare = isAlone || (isLast && profile.thinkingHistory === 'signed');
  const thinking = bare ? [] : earlierThinking(turn, call, profile);
  const pieces = piecesOf(said, thinking) ?? piecesOf(said, []) ?? [];
  return pieces.flatMap((piece) => pieceBlocks(piece, profile));
}

function pieceBlocks(piece: TurnPiece, profile: MessagesProfile): string[] {
  switch (piece.kind) {
    case 'thinking':
      return writeThinking(piece.block);
    case 'text':
      return textBlocks(piece.text);
    case 'call':
      return [callBlock(piece.call, profile)];
  }
}

function callBlock(call: ToolCall, profile: MessagesProfile): string {
  const id = JSON.stringify(toolIdFor(profile.toolIds, call.id));
  const name = JSON.stringify(call.name);
  return `{"type":"tool_use","id":${id},"name":${name},"input":${toolInput(call.arguments)}}`;
}

/** Signed thinking is sent back unchanged, and only to the upstream that signed it. */
function earlierThinking(
  turn: AssistantTurn,
  call: UpstreamCall,
  { thinkingHistory, contentParts }: MessagesProfile,
): readonly ThinkingBlock[] {
  if (!call.reasons || thinkingHistory === 'none' || contentParts === 'never') return [];
  const own = ownThinking(turn, call);
  if (own.length > 0) return own;
  if (thinkingHistory === 'signed' || turn.reasoning === '') return [];
  return [{ kind: 'thinking', text: turn.reasoning, signature: '' }];
}

function writeThinking(block: OwnThinking): string[] {
  switch (block.kind) {
    case 'thinking': {
      const { text: thinking, signature } = block;
      return [JSON.stringify({ type: 'thinking', thinking, signature })];
    }
    case 'redacted':
      return [JSON.stringify({ type: 'redacted_thinking', data: block.data })];
    // Of another format.
    case 'native':
      return [];
  }
}
