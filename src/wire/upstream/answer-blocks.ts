// Collects the thinking of an answer in its upstream's own form and in its place among text and
// calls: it may be sent back only complete and in order.

import type { ThinkingBlock } from '../../core/generation.ts';
import { SIGNED_THINKING_LENGTH_MAX } from './limits.ts';

export type Thought = { readonly kind: 'thinking'; text: string; signature: string };

/** An item whose place is known before it is whole. */
export type Native = { readonly kind: 'native'; json: string };

type TextMark = { readonly kind: 'text'; length: number; phase?: string };

type Item =
  | Thought
  | TextMark
  | Native
  | Exclude<ThinkingBlock, { readonly kind: 'thinking' | 'text' | 'native' }>;

/** Overhead counted per block, so that many empty ones are bounded too. */
const BLOCK_LENGTH = 64;

export class AnswerBlocks {
  #items: Item[] = [];
  #length = 0;
  #isWhole = true;

  /** Begins thinking whose text and signature follow. */
  begin(): Thought {
    const thought: Thought = { kind: 'thinking', text: '', signature: '' };
    this.#add(thought, 0);
    return thought;
  }

  addText(thought: Thought, text: string): void {
    if (this.#makeRoom(text.length)) thought.text += text;
  }

  /** Signatures arrive whole; the last of several counts. */
  sign(thought: Thought, signature: string): void {
    if (signature !== '' && this.#makeRoom(signature.length)) thought.signature = signature;
  }

  /** Encrypted thinking. */
  addRedacted(data: string): void {
    if (data !== '') this.#add({ kind: 'redacted', data }, data.length);
  }

  /** Begins an item whose JSON text follows; without it, there is none. */
  beginNative(): Native {
    const native: Native = { kind: 'native', json: '' };
    this.#add(native, 0);
    return native;
  }

  fill(native: Native, json: string): void {
    if (this.#makeRoom(json.length)) native.json = json;
  }

  /** Text of the answer follows; of a message with a phase, if the upstream says one. */
  text(length: number, phase?: string): void {
    const last = this.#items.at(-1);
    if (last?.kind === 'text' && last.phase === phase) last.length += length;
    else this.#add({ kind: 'text', length, ...(phase !== undefined && { phase }) }, 0);
  }

  /** A call follows, with the signature that it carries, if any. */
  call(signature?: string): void {
    const length = signature?.length ?? 0;
    this.#add({ kind: 'call', ...(signature !== undefined && { signature }) }, length);
  }

  /**
   * The list up to the last item that has to come back; undefined if there is none, or if a part of
   * the thinking was unsigned or too long to keep.
   */
  blocks(): readonly ThinkingBlock[] | undefined {
    const said = this.#items.filter(saysSomething);
    if (said.some((item) => item.kind === 'thinking' && item.signature === '')) return undefined;
    const end = said.findLastIndex(isKept);
    if (end === -1) return undefined;
    return said.slice(0, end + 1);
  }

  #add(item: Item, more: number): void {
    if (this.#makeRoom(BLOCK_LENGTH + more)) this.#items.push(item);
  }

  /** Whether `more` can still be kept. Servers refuse incomplete thinking. */
  #makeRoom(more: number): boolean {
    this.#length += more;
    if (this.#length > SIGNED_THINKING_LENGTH_MAX) this.#isWhole = false;
    if (!this.#isWhole) this.#items = [];
    return this.#isWhole;
  }
}

function saysSomething(item: Item): boolean {
  if (item.kind === 'native') return item.json !== '';
  return item.kind !== 'thinking' || item.text + item.signature !== '';
}

/** A bare mark says nothing by itself. */
function isKept(item: Item): boolean {
  switch (item.kind) {
    case 'text':
      return item.phase !== undefined;
    case 'call':
      return item.signature !== undefined;
    default:
      return true;
  }
}
