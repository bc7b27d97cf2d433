// Thinking that a server has left in the answer's text, between tags. Called by the chunk reader
// with every piece of text and of thinking. The tags may be cut anywhere; what is held back is
// never more than a tag and some white space, and never for longer than until the text goes on.

import type { ChatProfile } from '../../../core/profile.ts';
import type { PlainDelta } from './delta.ts';

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
export function createThinkSplitter(
  mode: ChatProfile['thinkTags'],
  onDelta: (delta: PlainDelta) => void,
) {
  let place: 'start' | 'thinking' | 'text' = mode === 'ignore' ? 'text' : 'start';
  /** What a text without a tag at its start begins with. */
  let beginning: 'thinking' | 'text' = mode === 'opened' ? 'thinking' : 'text';
  let held = '';
  let behindTag = mode === 'opened';

  function tell(kind: PlainDelta['kind'], piece: string): void {
    const text = behindTag ? piece.replace(/^[\r\n]+/, '') : piece;
    if (text === '') return;
    behindTag = false;
    onDelta({ kind, text });
  }

  /** Each place leaves to the next one what does not belong to it. */
  function read(piece: string): void {
    let rest = piece;
    if (place === 'start') rest = readStart(rest);
    if (place === 'thinking') rest = readThinking(rest);
    if (place === 'text') tell('text-delta', rest);
  }

  function readStart(piece: string): string {
    const rest = piece.trimStart();
    const mayHaveTag = piece.length - rest.length <= LEADING_SPACE_MAX;
    const tag = TAGS.find((word) => rest.startsWith(word));
    if (mayHaveTag && tag !== undefined) {
      place = OPENERS.includes(tag) ? 'thinking' : 'text';
      behindTag = true;
      return rest.slice(tag.length);
    }
    if (mayHaveTag && TAGS.some((word) => word.startsWith(rest))) {
      held = piece;
      return '';
    }
    place = beginning;
    return piece;
  }

  function readThinking(piece: string): string {
    const closer = CLOSER.exec(piece);
    if (closer !== null) {
      tell('reasoning-delta', piece.slice(0, closer.index));
      place = 'text';
      behindTag = true;
      return piece.slice(closer.index + closer[0].length);
    }
    // A closer that the piece cuts can only begin at its last bracket.
    const bracket = piece.lastIndexOf('<');
    const end = bracket === -1 ? '' : piece.slice(bracket);
    if (CLOSERS.some((word) => word.startsWith(end))) held = end;
    tell('reasoning-delta', piece.slice(0, piece.length - held.length));
    return '';
  }

  function take(): string {
    const taken = held;
    held = '';
    return taken;
  }

  /** Nothing that follows belongs to what is held: it is told as what it is so far. */
  function flush(): void {
    const rest = take();
    if (rest === '') return;
    if (place === 'start') place = beginning;
    tell(place === 'thinking' ? 'reasoning-delta' : 'text-delta', rest);
  }

  return {
    text: (piece: string): void => read(take() + piece),
    /** Thinking that came in a field of its own. */
    reasoning(piece: string): void {
      // A server that tells thinking apart has not left the text open as well.
      if (place === 'start') beginning = 'text';
      else flush();
      onDelta({ kind: 'reasoning-delta', text: piece });
    },
    flush,
  };
}
