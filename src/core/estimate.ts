// Estimates the size of a prompt in tokens. Admission and count_tokens call the same function, so
// the count that a client sees is the count that is reserved. The tokenizer is passed in, because
// it loads slowly and has to yield on large texts.

import { formatInstruction } from './answer-format.ts';
import type { AssistantTurn, GenerationRequest, ImagePart, Turn } from './generation.ts';
import { type Tokens, tokenCount } from './money.ts';

/** Counts all texts of one request. Deterministic: the same text always has the same count. */
export type CountTexts = (texts: readonly string[]) => number | Promise<number>;

const TOKENS_PER_REQUEST = 3;
const TOKENS_PER_TURN = 4;
const TOKENS_PER_TOOL = 8;
const TOKENS_PER_TOOL_CALL = 6;

/** A token has about four bytes, and base64 writes three bytes in four characters. */
const ENCRYPTED_LENGTH_PER_TOKEN = 5;

/**
 * Ids up to this length are free: most servers leave them out of the prompt, and no vendor's own
 * ids are longer. Some templates include them, and longer ids would be uncounted text.
 */
const FREE_ID_LENGTH = 64;

/** The estimated prompt tokens of a request: every text, every image, and the framing. */
export function estimatePrompt(
  request: Pick<GenerationRequest, 'system' | 'turns' | 'tools'> &
    Partial<Pick<GenerationRequest, 'json' | 'schema' | 'saysSchema'>>,
  countTexts: CountTexts,
  imageTokens: (image: ImagePart) => number,
): Tokens | Promise<Tokens> {
  const { system, turns, tools } = request;
  const texts: string[] = [];
  addText(texts, system);
  addText(texts, formatInstruction(request));
  let tokens = TOKENS_PER_REQUEST + (texts.length > 0 ? TOKENS_PER_TURN : 0);
  const lastQuestion = turns.findLastIndex(({ role }) => role === 'user');
  for (const [at, turn] of turns.entries()) {
    tokens += TOKENS_PER_TURN + fixedTokens(turn, imageTokens, at > lastQuestion);
    addTurn(texts, turn);
  }
  for (const { name, description = '', parameters } of tools) {
    tokens += TOKENS_PER_TOOL;
    addText(texts, name);
    addText(texts, description);
    addText(texts, JSON.stringify(parameters));
  }
  const counted = countTexts(texts);
  if (counted instanceof Promise) return counted.then((of) => tokenCount(tokens + of));
  return tokenCount(tokens + counted);
}

function fixedTokens(
  turn: Turn,
  imageTokens: (image: ImagePart) => number,
  isCurrent: boolean,
): number {
  switch (turn.role) {
    case 'user': {
      let tokens = 0;
      for (const part of turn.parts) if (part.kind === 'image') tokens += imageTokens(part);
      return tokens;
    }
    case 'assistant':
      return turn.toolCalls.length * TOKENS_PER_TOOL_CALL + encryptedTokens(turn, isCurrent);
    case 'tool':
    case 'system':
      return 0;
  }
}

function addTurn(texts: string[], turn: Turn): void {
  switch (turn.role) {
    case 'user':
      addText(texts, nameText(turn.name));
      for (const part of turn.parts) if (part.kind === 'text') addText(texts, part.text);
      return;
    case 'assistant':
      addText(texts, nameText(turn.name));
      addThinking(texts, turn);
      addText(texts, turn.text);
      for (const call of turn.toolCalls) {
        addText(texts, call.name);
        addText(texts, call.arguments);
        addText(texts, longId(call.id));
      }
      return;
    case 'tool':
      addText(texts, turn.text);
      addText(texts, longId(turn.toolCallId));
      return;
    case 'system':
      addText(texts, turn.text);
  }
}

/**
 * One upstream gets the client's text and another the signed blocks that were stored here. Both
 * count, unless one begins with the other: the longer one may be blanks, and so the cheaper one.
 */
function addThinking(texts: string[], { reasoning, signed }: AssistantTurn): void {
  if (signed === undefined) {
    addText(texts, reasoning);
    return;
  }
  const kept = signed.blocks.map((block) => (block.kind === 'thinking' ? block.text : '')).join('');
  if (!kept.startsWith(reasoning)) addText(texts, reasoning);
  if (!reasoning.startsWith(kept) || reasoning === kept) addText(texts, kept);
}

/**
 * The text itself is unknown: an upstream encrypts it. Items and signatures count in the current
 * turn, since OpenAI drops those before the last user message from the prompt. A `native` item
 * without encryption has the text of the turn's thinking, which is counted there.
 */
function encryptedTokens({ signed }: AssistantTurn, isCurrent: boolean): number {
  let length = 0;
  for (const block of signed?.blocks ?? []) {
    if (block.kind === 'redacted') length += block.data.length;
    if (!isCurrent) continue;
    if (block.kind === 'native' && block.json.includes('encrypted')) length += block.json.length;
    if (block.kind === 'call') length += block.signature?.length ?? 0;
  }
  return Math.ceil(length / ENCRYPTED_LENGTH_PER_TOKEN);
}

function addText(texts: string[], text: string): void {
  if (text !== '') texts.push(text);
}

function longId(id: string): string {
  return id.length > FREE_ID_LENGTH ? id : '';
}

/** As written where an upstream has no field for it. */
function nameText(name: string | undefined): string {
  return name === undefined ? '' : `${name}:`;
}
