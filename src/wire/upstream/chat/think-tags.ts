// Separates thinking that a server left in the answer's text between tags. Tags may be split
// anywhere across pieces. At most a tag and some white space is held back, until more text arrives.

import type { ChatProfile } from '../../../core/profile.ts';
import type { DeltaSink, PlainDelta } from './delta.ts';

const OPENERS = ['<think>', '<thinking>'];
const CLOSERS = ['</think>', '</thinking>'];
const TAGS = [...OPENERS, ...CLOSERS];
const CLOSER = /<\/think(?:ing)?>/;

/** White space before the first tag, or line breaks behind one; servers do not write more. */
const SPACE_MAX = 256;

/**
 * Tags count only at the start of the text, after white space: an opening tag starts the thinking,
 * and a closing tag ends thinking that had no opening one. Thinking ends at the first closing tag
 * of either kind, or never. Line breaks directly after a tag belong to it, up to a bound: what is left
 * out is not billed. Any other tag is plain text, as are later closing tags, because the text before
 * them was already sent.
 */
export class ThinkSplitter implements DeltaSink {
  readonly #sink: DeltaSink;
  #place: 'start' | 'thinking' | 'text';
  /** The kind of a text without a tag at its start. */
  #beginning: 'thinking' | 'text';
  #held = '';
  /** Line breaks that are left out if they come next. */
  #breaksLeft: number;

  constructor(mode: ChatProfile['thinkTags'], sink: DeltaSink) {
    this.#sink = sink;
    this.#place = mode === 'ignore' ? 'text' : 'start';
    this.#beginning = mode === 'opened' ? 'thinking' : 'text';
    this.#breaksLeft = mode === 'opened' ? SPACE_MAX : 0;
  }

  /** Pushed thinking came in a field of its own. */
  push(delta: PlainDelta): void {
    if (delta.kind === 'text-delta') {
      if (delta.text === '') return;
      const isPlain = this.#place === 'text' && this.#breaksLeft === 0 && this.#held === '';
      if (isPlain) this.#sink.push(delta);
      else this.#read(this.#take() + delta.text);
      return;
    }
    // A server that separates thinking has not left the text open as well.
    if (this.#place === 'start') this.#beginning = 'text';
    else this.flush();
    this.#sink.push(delta);
  }

  /** Nothing follows that completes the held text, so it is emitted as what it is so far. */
  flush(): void {
    const rest = this.#take();
    if (rest === '') return;
    if (this.#place === 'start') this.#place = this.#beginning;
    this.#tell(this.#place === 'thinking' ? 'reasoning-delta' : 'text-delta', rest);
  }

  #tell(kind: PlainDelta['kind'], piece: string): void {
    let text = piece;
    if (this.#breaksLeft > 0) {
      text = piece.slice(Math.min(lengthOfBreaks(piece), this.#breaksLeft));
      this.#breaksLeft -= piece.length - text.length;
    }
    if (text === '') return;
    this.#breaksLeft = 0;
    this.#sink.push({ kind, text });
  }

  /** Each state passes on what does not belong to it. */
  #read(piece: string): void {
    let rest = piece;
    if (this.#place === 'start') rest = this.#readStart(rest);
    if (this.#place === 'thinking') rest = this.#readThinking(rest);
    if (this.#place === 'text') this.#tell('text-delta', rest);
  }

  #readStart(piece: string): string {
    const rest = piece.trimStart();
    const mayHaveTag = piece.length - rest.length <= SPACE_MAX;
    // Most texts do not begin with a tag.
    if (!mayHaveTag || (rest !== '' && !rest.startsWith('<'))) {
      this.#place = this.#beginning;
      return piece;
    }
    const tag = TAGS.find((word) => rest.startsWith(word));
    if (tag !== undefined) {
      this.#place = OPENERS.includes(tag) ? 'thinking' : 'text';
      this.#breaksLeft = SPACE_MAX;
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
      this.#breaksLeft = SPACE_MAX;
      return piece.slice(closer.index + closer[0].length);
    }
    // A closing tag that the piece truncates can only begin at its last bracket.
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

function lengthOfBreaks(text: string): number {
  return /^[\r\n]*/.exec(text)?.[0].length ?? 0;
}
