// Finds the end of a tool call's arguments, piece by piece. Servers repeat the arguments, close an
// object twice, or begin with an empty object as a placeholder. Joining such pieces would make the
// call unreadable.

import { isEscaped } from '../../json.ts';

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export type ArgumentEnd = ReturnType<typeof createArgumentEnd>;

/** Arguments that do not begin as an object pass unchanged: they are repaired as a whole later. */
export function createArgumentEnd() {
  let place: 'start' | 'placeholder' | 'object' | 'behind' | 'other' = 'start';
  let placeholder = '';
  let depth = 0;
  let inString = false;
  /** A backslash whose next character has not arrived. */
  let carry = '';

  function begin(piece: string): string {
    const text = piece.trim();
    if (text === '{}') {
      place = 'placeholder';
      placeholder = piece;
      return '';
    }
    if (text === '') return piece;
    place = text.startsWith('{') ? 'object' : 'other';
    return place === 'object' ? scan(piece) : piece;
  }

  /** Skips strings, which make up most of a long input. */
  function scan(piece: string): string {
    const text = carry + piece;
    const carried = carry.length;
    carry = '';
    for (let index = 0; index < text.length; index += 1) {
      if (inString) {
        index = closingQuote(text, index);
        if (index === -1) {
          if (isEscaped(text, text.length)) carry = '\\';
          return piece;
        }
        inString = false;
      } else if (closes(text.charCodeAt(index))) {
        place = 'behind';
        return text.slice(carried, index + 1) + blankStart(text.slice(index + 1));
      }
    }
    return piece;
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
    /** The part of this piece that belongs to the arguments. */
    push(piece: string): string {
      switch (place) {
        case 'start':
          return begin(piece);
        case 'placeholder':
          if (piece.trimStart().startsWith('{')) return begin(piece);
          placeholder += blankStart(piece);
          return '';
        case 'object':
          return scan(piece);
        case 'behind':
          return blankStart(piece);
        case 'other':
          return piece;
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

/** White space is kept: arguments are passed on byte for byte. */
function blankStart(text: string): string {
  return text.slice(0, text.length - text.trimStart().length);
}

function closingQuote(text: string, start: number): number {
  let quote = text.indexOf('"', start);
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote;
}
