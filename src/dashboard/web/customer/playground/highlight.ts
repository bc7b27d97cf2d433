// Colours for code: comments, strings, numbers and keywords, by one expression for all languages. Pure,
// and linear in the length of the code.

export type CodePiece = {
  readonly kind: 'plain' | 'comment' | 'string' | 'number' | 'keyword';
  readonly text: string;
};

const CHARACTERS_MAX = 20_000;

const STRINGS = [
  String.raw`"(?:[^"\\\n]|\\.)*"?`,
  String.raw`'(?:[^'\\\n]|\\.)*'?`,
  '`(?:[^`\\\\]|\\\\[^])*`?',
].join('|');
const SLASH = String.raw`\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*`;
const HASH = String.raw`#[^\n]*`;
const DASH = String.raw`--[^\n]*`;

/** Comments by language; others stay plain. */
const COMMENTS: Readonly<Record<string, string>> = {
  ...byNames('js javascript jsx ts typescript tsx json c cpp cs csharp go java kotlin', SLASH),
  ...byNames('php rust rs scala swift dart css', SLASH),
  ...byNames('py python sh bash shell zsh yaml yml toml ruby rb perl r dockerfile make', HASH),
  ...byNames('sql lua haskell', DASH),
};

const KEYWORDS = new Set(
  `abstract and as assert async await begin bool boolean break case catch char class const continue
  create def default del delete do double elif else end enum except export extends false final
  finally float fn for foreach from func function global go if impl implements import in insert int
  interface into is join lambda let limit local long loop match module mut namespace new nil none not
  null on or order package pass private protected pub public raise return select self set short
  static string struct super switch table then this throw throws trait true try type typedef typeof
  union unsigned update use using values var void where while with yield`.split(/\s+/),
);

export function highlight(code: string, language: string): readonly CodePiece[] {
  const comments = COMMENTS[language.toLowerCase()];
  if (comments === undefined || code.length > CHARACTERS_MAX)
    return [{ kind: 'plain', text: code }];
  const expression = new RegExp(
    `(${comments})|(${STRINGS})|\\b(\\d[\\w.]*)|\\b([A-Za-z_]\\w*)`,
    'g',
  );
  const pieces: CodePiece[] = [];
  const add = (kind: CodePiece['kind'], text: string): void => {
    const last = pieces.at(-1);
    if (last?.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text };
    else if (text !== '') pieces.push({ kind, text });
  };
  let end = 0;
  for (const match of code.matchAll(expression)) {
    const [text, comment, string, number, word] = match;
    add('plain', code.slice(end, match.index));
    end = match.index + text.length;
    if (comment !== undefined) add('comment', text);
    else if (string !== undefined) add('string', text);
    else if (number !== undefined) add('number', text);
    else add(KEYWORDS.has((word ?? '').toLowerCase()) ? 'keyword' : 'plain', text);
  }
  add('plain', code.slice(end));
  return pieces;
}

function byNames(names: string, comments: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, comments]));
}
