// Finds the end of a tool call's arguments, piece by piece. Servers repeat the arguments, close an
// object twice, or begin with an empty object as a placeholder. Joining such pieces would make the
// call unreadable.

import { isEscaped } from '../../json.ts';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** What a repetition may be longer than twice the object: a short one has few characters. */
const SPACES_MAX = 16;

/** `surplus` is what the model wrote behind its arguments: it is paid for, and not passed on. */
type ArgumentPiece = { readonly json: string; readonly surplus: string };

export type ArgumentEnd = ReturnType<typeof createArgumentEnd>;

/** Arguments that do not begin as an object pass unchanged: they are repaired as a whole later. */
export function createArgumentEnd() {
  let place: 'start' | 'placeholder' | 'object' | 'behind' | 'other' = 'start';
  let placeholder = '';
  let depth = 0;
  let inString = false;
  /** A backslash whose next character has not arrived. */
  let carry = '';
  /** The length of the object so far. */
  let length = 0;
  let hasRepetition = false;

  function begin(piece: string): ArgumentPiece {
    const text = piece.trim();
    if (text === '{}') {
      place = 'placeholder';
      placeholder = piece;
      length = text.length;
      return { json: '', surplus: '' };
    }
    if (text === '') return { json: piece, surplus: '' };
    place = text.startsWith('{') ? 'object' : 'other';
    if (place === 'other') return { json: piece, surplus: '' };
    length = piece.trimStart().length - piece.length;
    hasRepetition = false;
    return scan(piece);
  }

  /** Skips strings, which make up most of a long input. */
  function scan(piece: string): ArgumentPiece {
    const text = carry + piece;
    const carried = carry.length;
    carry = '';
    for (let index = 0; index < text.length; index += 1) {
      if (inString) {
        index = closingQuote(text, index);
        if (index === -1) {
          if (isEscaped(text, text.length)) carry = '\\';
          break;
        }
        inString = false;
      } else if (closes(text.charCodeAt(index))) {
        place = 'behind';
        const end = index + 1 - carried;
        length += end;
        return endAt(piece, end);
      }
    }
    length += piece.length;
    return { json: piece, surplus: '' };
  }

  /** White space behind the end is kept: arguments are passed on byte for byte. */
  function endAt(piece: string, end: number): ArgumentPiece {
    const surplus = piece.slice(end).trimStart();
    return { json: piece.slice(0, piece.length - surplus.length), surplus: written(surplus) };
  }

  /**
   * The surplus that the model wrote. One piece that is an object, too, counts as a repetition by the
   * server, once: only the length is compared, because the object is not kept, and servers write
   * white space in another way than the model.
   */
  function written(surplus: string): string {
    const text = surplus.trim();
    const isObject = text.startsWith('{') && text.endsWith('}');
    if (hasRepetition || !isObject || text.length > 2 * length + SPACES_MAX) return surplus;
    hasRepetition = true;
    return '';
  }

  /** Processes one character outside strings; true if it closes the object. */
  function closes(code: number): boolean {
    if (code === QUOTE) inString = true;
    else if (code === OPEN_BRACE) depth += 1;
    else if (code === CLOSE_BRACE) {
      depth -= 1;
      return depth === 0;
    }
    return false;
  }

  return {
    push(piece: string): ArgumentPiece {
      switch (place) {
        case 'start':
          return begin(piece);
        case 'placeholder': {
          const text = piece.trim();
          if (text.startsWith('{') && text !== '{}') return begin(piece);
          return { json: '', surplus: written(piece) };
        }
        case 'object':
          return scan(piece);
        case 'behind':
          return endAt(piece, 0);
        case 'other':
          return { json: piece, surplus: '' };
      }
    },
    /** An empty object that nothing has followed, which is then the whole input. */
    rest(): string {
      if (place !== 'placeholder') return '';
      place = 'behind';
      return placeholder;
    },
    /** Whether an object has been closed. */
    isWhole: () => place === 'placeholder' || place === 'behind',
    /** Whether there has been nothing but white space. */
    isEmpty: () => place === 'start',
  };
}

function closingQuote(text: string, start: number): number {
  let quote = text.indexOf('"', start);
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote;
}
