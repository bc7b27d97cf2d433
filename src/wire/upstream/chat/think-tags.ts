// Thinking that a server has left in the answer's text, between tags. Called by the chunk reader
// with every piece of text and of thinking. The tags may be cut anywhere; what is held back is
// never more than a tag and some white space, and never for longer than until the text goes on.

import type { ChatProfile } from '../../../core/profile.ts';
import type { DeltaSink, PlainDelta } from './delta.ts';

const OPENERS = ['<think>', '<thinking>'];
const CLOSERS = ['</think>', '</thinking>'];
const TAGS = [...OPENERS, ...CLOSERS];
const CLOSER = /<\/think(?:ing)?>/;

/** White space before the first tag; behind more than that nobody writes one. */
const LEADING_SPACE_MAX = 256;

/**
 * Tags count only where the text begins, behind white space: an opener there begins the thinking,
 * and a closer there ends one that never had a beginning. What is begun ends at the first closer of
 * either kind, or never. Line breaks right behind a tag belong to it. Any other tag is plain text,
 * and so are later closers: what stood before them has been told already.
 */
export class ThinkSplitter implements DeltaSink {
  readonly #sink: DeltaSink;
  #place: 'start' | 'thinking' | 'text';
  /** What a text without a tag at its start begins with. */
  #beginning: 'thinking' | 'text';
  #held = '';
  #isBehindTag: boolean;

  constructor(mode: ChatProfile['thinkTags'], sink: DeltaSink) {
    this.#sink = sink;
    this.#place = mode === 'ignore' ? 'text' : 'start';
    this.#beginning = mode === 'opened' ? 'thinking' : 'text';
    this.#isBehindTag = mode === 'opened';
  }

  /** Thinking that is pushed came in a field of its own. */
  push(delta: PlainDelta): void {
    if (delta.kind === 'text-delta') {
      if (delta.text === '') return;
      const isPlain = this.#place === 'text' && !this.#isBehindTag && this.#held === '';
      if (isPlain) this.#sink.push(delta);
      else this.#read(this.#take() + delta.text);
      return;
    }
    // A server that tells thinking apart has not left the text open as well.
    if (this.#place === 'start') this.#beginning = 'text';
    else this.flush();
    this.#sink.push(delta);
  }

  /** Nothing that follows belongs to what is held: it is told as what it is so far. */
  flush(): void {
    const rest = this.#take();
    if (rest === '') return;
    if (this.#place === 'start') this.#place = this.#beginning;
    this.#tell(this.#place === 'thinking' ? 'reasoning-delta' : 'text-delta', rest);
  }

  #tell(kind: PlainDelta['kind'], piece: string): void {
    const text = this.#isBehindTag ? piece.replace(/^[\r\n]+/, '') : piece;
    if (text === '') return;
    this.#isBehindTag = false;
    this.#sink.push({ kind, text });
  }

  /** Each place leaves to the next one what does not belong to it. */
  #read(piece: string): void {
    let rest = piece;
    if (this.#place === 'start') rest = this.#readStart(rest);
    if (this.#place === 'thinking') rest = this.#readThinking(rest);
    if (this.#place === 'text') this.#tell('text-delta', rest);
  }

  #readStart(piece: string): string {
    const rest = piece.trimStart();
    const mayHaveTag = piece.length - rest.length <= LEADING_SPACE_MAX;
    // Nearly every text begins with something else.
    if (!mayHaveTag || (rest !== '' && !rest.startsWith('<'))) {
      this.#place = this.#beginning;
      return piece;
    }
    const tag = TAGS.find((word) => rest.startsWith(word));
    if (tag !== undefined) {
      this.#place = OPENERS.includes(tag) ? 'thinking' : 'text';
      this.#isBehindTag = true;
      return rest.slice(tag.length);
    }
    if (TAGS.some((word) => word.startsWith(rest))) {
      this.#held = piece;
      return '';
    }
    this.#place = this.#beginning;
    return piece;
  }

  #readThinking(piece: string): string {
    const closer = CLOSER.exec(piece);
    if (closer !== null) {
      this.#tell('reasoning-delta', piece.slice(0, closer.index));
      this.#place = 'text';
      this.#isBehindTag = true;
      return piece.slice(closer.index + closer[0].length);
    }
    // A closer that the piece cuts can only begin at its last bracket.
    const bracket = piece.lastIndexOf('<');
    const end = bracket === -1 ? '' : piece.slice(bracket);
    if (CLOSERS.some((word) => word.startsWith(end))) this.#held = end;
    this.#tell('reasoning-delta', piece.slice(0, piece.length - this.#held.length));
    return '';
  }

  #take(): string {
    const taken = this.#held;
    this.#held = '';
    return taken;
  }
}
