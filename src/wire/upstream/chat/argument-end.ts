// Where the arguments of a tool call end. Called with each piece of them, in order. Servers repeat
// the arguments once more, close an object twice, or begin with an empty object that stands for "not
// yet": joined to the rest, such a piece makes a call that nobody can read.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export type ArgumentEnd = {
  /** What of this piece belongs to the arguments. */
  readonly push: (piece: string) => string;
  /** An empty object that nothing has followed, which is then taken for all there is. */
  readonly rest: () => string;
  /** Whether an object has been closed. */
  readonly isWhole: () => boolean;
  /** Whether there has been nothing but white space. */
  readonly isEmpty: () => boolean;
};

/** Arguments that do not begin as an object pass as they are: they are repaired as a whole later. */
export function createArgumentEnd(): ArgumentEnd {
  let place: 'start' | 'placeholder' | 'object' | 'behind' | 'other' = 'start';
  let placeholder = '';
  let depth = 0;
  let inString = false;
  let escaped = false;

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

  function scan(piece: string): string {
    for (let index = 0; index < piece.length; index += 1) {
      if (closes(piece.charCodeAt(index))) {
        place = 'behind';
        return piece.slice(0, index + 1) + blankStart(piece.slice(index + 1));
      }
    }
    return piece;
  }

  /** Follows one character of the object, and says whether it is the last one. */
  function closes(code: number): boolean {
    if (escaped) escaped = false;
    else if (inString && code === BACKSLASH) escaped = true;
    else if (code === QUOTE) inString = !inString;
    else if (!inString && code === OPEN_BRACE) depth += 1;
    else if (!inString && code === CLOSE_BRACE) {
      depth -= 1;
      return depth === 0;
    }
    return false;
  }

  return {
    push(piece) {
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
    rest() {
      if (place !== 'placeholder') return '';
      place = 'behind';
      return placeholder;
    },
    isWhole: () => place === 'placeholder' || place === 'behind',
    isEmpty: () => place === 'start',
  };
}

/** White space is no surplus: arguments keep their bytes. */
function blankStart(text: string): string {
  return text.slice(0, text.length - text.trimStart().length);
}
