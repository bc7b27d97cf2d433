// Tokenizes source text and finds code by the declaration that contains it.

import { SyntaxKind } from 'typescript/unstable/ast';
import { createScanner } from 'typescript/unstable/ast/scanner';

type Token = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly startsLine: boolean;
  /** How many brackets it opens; -1 where it closes one. */
  readonly opens: number;
};

export type Source = {
  readonly text: string;
  /** The text with `find` replaced: one for each place in a declaration of the name `in`. */
  readonly replace: (edit: {
    readonly in: string;
    readonly find: string;
    readonly put: string;
  }) => string[];
};

const OPENING = new Set([
  SyntaxKind.OpenParenToken,
  SyntaxKind.OpenBracketToken,
  SyntaxKind.OpenBraceToken,
  SyntaxKind.TemplateHead,
]);
const CLOSING = new Set([
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.TemplateTail,
]);
const KEYWORDS = new Set(['function', '*', 'const', 'let', 'class', 'type']);

/** `words` is for other languages: tokens are what white space divides, in the whole text. */
export function createSource(text: string, language: 'code' | 'words' = 'code'): Source {
  let cached: readonly Token[] | undefined;
  const tokens = (): readonly Token[] => {
    cached ??= language === 'code' ? scan(text) : wordsOf(text);
    return cached;
  };
  return {
    text,
    replace({ in: name, find, put }) {
      if (language === 'code' && !text.includes(name)) return [];
      const wanted = language === 'code' ? scan(find) : wordsOf(find);
      const places =
        language === 'code' ? rangesOf(tokens(), name) : [[0, tokens().length] as const];
      const starts = new Set(places.flatMap((range) => matches(tokens(), wanted, range)));
      return [...starts].map((at) => {
        const first = tokens()[at];
        const last = tokens()[at + wanted.length - 1];
        return text.slice(0, first?.start) + put + text.slice(last?.end);
      });
    },
  };
}

/** Where all tokens of `wanted` stand one after the other. */
function matches(
  tokens: readonly Token[],
  wanted: readonly Token[],
  [from, to]: readonly [number, number],
): number[] {
  const found: number[] = [];
  for (let at = from; at + wanted.length <= to; at += 1) {
    if (wanted.every(({ text }, place) => tokens[at + place]?.text === text)) found.push(at);
  }
  return found;
}

/** The declarations of that name: statements, methods and properties. */
function rangesOf(tokens: readonly Token[], name: string): (readonly [number, number])[] {
  return tokens.flatMap(({ text }, at) => {
    if (text !== name) return [];
    const before = tokens[at - 1]?.text ?? '';
    const after = tokens[at + 1]?.text ?? '';
    if (KEYWORDS.has(before)) return [[at - 1, endOf(tokens, at)] as const];
    const opensMember = /^(?:[{,;}]|async)$/.test(before) && /^[:(<]$/.test(after);
    return opensMember ? [[at, endOf(tokens, at)] as const] : [];
  });
}

/** The first place outside of all brackets where a statement or a member ends. */
function endOf(tokens: readonly Token[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at += 1) {
    const { text, opens } = tokens[at] as Token;
    depth += opens;
    if (depth < 0) return at;
    const next = tokens[at + 1];
    const ends = text === ';' || text === ',' || (text === '}' && next?.startsLine === true);
    if (depth === 0 && ends) return at + 1;
  }
  return tokens.length;
}

/** Without comments, and without the commas that only formatting puts before a closing bracket. */
function scan(text: string): readonly Token[] {
  const scanner = createScanner(true, undefined, text);
  const tokens: Token[] = [];
  /** For each open brace whether it belongs to a template. */
  const braces: boolean[] = [];
  while (true) {
    let kind = scanner.scan();
    if (kind === SyntaxKind.EndOfFile) break;
    const isSlash = kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken;
    if (isSlash && startsRegex(tokens.at(-1)?.text)) {
      kind = scanner.reScanSlashToken();
    }
    if (kind === SyntaxKind.CloseBraceToken && braces.pop() === true) {
      kind = scanner.reScanTemplateToken(false);
      if (kind === SyntaxKind.TemplateMiddle) braces.push(true);
    }
    if (kind === SyntaxKind.TemplateHead) braces.push(true);
    if (kind === SyntaxKind.OpenBraceToken) braces.push(false);
    const opens = OPENING.has(kind) ? 1 : CLOSING.has(kind) ? -1 : 0;
    if (opens < 0 && tokens.at(-1)?.text === ',') tokens.pop();
    tokens.push({
      text: scanner.getTokenText(),
      opens,
      start: scanner.getTokenStart(),
      end: scanner.getTokenEnd(),
      startsLine: scanner.hasPrecedingLineBreak(),
    });
  }
  return tokens;
}

/** A slash divides what stands before it, unless that is no value. */
function startsRegex(before = ''): boolean {
  return !/[\w$)\]}'"`]$/.test(before) || /^(?:return|case|typeof)$/.test(before);
}

function wordsOf(text: string): readonly Token[] {
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    ...{ text: word, start: index, end: index + word.length },
    ...{ startsLine: false, opens: 0 },
  }));
}
