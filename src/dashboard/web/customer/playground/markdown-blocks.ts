// Parses Markdown into tokens, block by block: of a growing text, only the last blocks are parsed
// again. Pure. Bounded, because the text comes from a model: what would take long stays plain text.

import { Lexer, type Token } from 'marked';

export type Blocks = {
  /** The text that the tokens are from, with `\n` as line breaks. */
  readonly text: string;
  readonly tokens: readonly Token[];
};

export const NO_BLOCKS: Blocks = { text: '', tokens: [] };

/** Emphasis is parsed in quadratic time. */
const INLINE_CHARACTERS_MAX = 10_000;

/**
 * Lists and quotes that are nested deeper: each level is parsed again for every one around it. And
 * endless lines.
 */
const TOO_DEEP = new RegExp(
  [
    String.raw`^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){16}`,
    String.raw`^[ \t]{48,}(?:[-*+>]|\d{1,9}[.)])`,
    '.{20000}',
  ].join('|'),
  'm',
);

/** A block that still grows is parsed at every step, so a long one waits for its end. */
const GROWING_CHARACTERS_MAX = 20_000;

/** A later line can change the last block and the one before it. */
const OPEN_BLOCKS = 2;

/** The blocks of `text`. Reuses those of `before` if the text only grew. */
export function parseBlocks(text: string, before = NO_BLOCKS, isRunning = false): Blocks {
  const source = text.replaceAll(/\r\n?/g, '\n');
  const kept = source.startsWith(before.text) ? closedBlocks(before.tokens) : [];
  const start = kept.reduce((sum, { raw }) => sum + raw.length, 0);
  const open = source.slice(start);
  const isLong = isRunning && open.length > GROWING_CHARACTERS_MAX;
  return { text: source, tokens: [...kept, ...(isLong ? [plain(open)] : parse(open))] };
}

function closedBlocks(tokens: readonly Token[]): readonly Token[] {
  let open = 0;
  for (let end = tokens.length; end > 0; end -= 1) {
    if (tokens[end - 1]?.type !== 'space') open += 1;
    if (open === OPEN_BLOCKS) return tokens.slice(0, end - 1);
  }
  return [];
}

function parse(source: string): readonly Token[] {
  if (TOO_DEEP.test(source)) return [plain(source)];
  try {
    const lexer = new Lexer({ gfm: true, breaks: true });
    const tokens = lexer.blockTokens(source);
    for (const { src, tokens: inline } of lexer.inlineQueue) {
      if (src.length > INLINE_CHARACTERS_MAX) inline.push(plain(src));
      else lexer.inlineTokens(src, inline);
    }
    return asWritten(tokens, source);
  } catch {
    return [plain(source)];
  }
}

/**
 * The tokens with the text that they stand for. The lexer writes the white space after a list in its
 * own way, and rewrites other text too: from such a token on, the text stays plain.
 */
function asWritten(tokens: readonly Token[], source: string): readonly Token[] {
  let start = 0;
  for (const [index, token] of tokens.entries()) {
    if (!source.startsWith(token.raw, start)) {
      const rest = source.slice(start);
      const isLast = index === tokens.length - 1 && rest.trimEnd() === token.raw.trimEnd();
      return [...tokens.slice(0, index), isLast ? { ...token, raw: rest } : plain(rest)];
    }
    start += token.raw.length;
  }
  return start === source.length ? tokens : [...tokens, plain(source.slice(start))];
}

function plain(raw: string): Token {
  return { type: 'plain', raw };
}
