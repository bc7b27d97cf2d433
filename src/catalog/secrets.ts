// Keeps the secrets of a catalog out of the console. The text that a page gets has marks in their
// places. A text that a page sends gets them back, where they go to the same address as before. A
// page can set a key only by the name of a variable.

import { isObject } from '../core/json.ts';
import { type Sentence, say } from '../core/sentence.ts';
import { listAt, memberOf, textAt } from './document.ts';
import type { CatalogEntry } from './entries.ts';
import type { Problem } from './schema.ts';
import { plainDocument, splicedText } from './toml-edit.ts';
import { pathText, readToml, type TomlPath, type TomlValue } from './toml-text.ts';

const REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const REFERENCES = /\$\{([^}]*)\}/g;

const MARK = /<kept [^>]*>/g;
const COMMENT = 'comment';

/** Names of members whose text is hidden, in any table. */
const SECRET_NAME =
  /(?:^|[_-])(?:api[_-]?keys?|access[_-]?key(?:[_-]?id)?|secret|password|authorization|proxy|token)$/i;

/** The members of an upstream that a page may set to a variable. */
const KEY = /^(?:api_key|api_keys\[\d+\]|proxy|aws\.(?!region$).+)$/;

/** A password within an address is hidden as well. */
function isPlain(text: string): boolean {
  if (text === '' || REFERENCE.test(text)) return true;
  return /^https?:\/\//.test(text) && (!text.includes('@') || /:\$\{[A-Za-z_]\w*\}@/.test(text));
}

type Kept = {
  readonly source: string;
  /** Where it may stand: its member, and the address that the member is sent to. */
  readonly place: string;
};

/** A text with marks in place of its secrets, and what each of them stands for. */
export type HiddenText = { readonly text: string; readonly kept: ReadonlyMap<string, Kept> };

/** Throws where the text is not TOML. */
export function hiddenText(text: string): HiddenText {
  const { values, comments } = readToml(text);
  const document = plainDocument(text);
  const secrets = values.filter(isSecret);
  const marks = secrets.map(({ path }) => `<kept ${nameOf(document, path)}>`);
  let count = 0;
  const found: [string, Kept][] = [];
  const hide = (source: string): string => {
    count += 1;
    const mark = `<kept comment ${count}>`;
    found.push([mark, { source, place: COMMENT }]);
    return mark;
  };
  const hidden = splicedText(text, [
    ...secrets.map(({ range }, at) => ({ range, text: JSON.stringify(marks[at]) })),
    ...comments.map((range) => ({
      range,
      text: text
        .slice(...range)
        .replaceAll(/[A-Za-z0-9_+/=.-]{16,}/g, (word) =>
          /\d/.test(word) && /[A-Za-z]/.test(word) ? hide(word) : word,
        ),
    })),
  ]);
  // The address of a secret may have a secret in it.
  const shown = plainDocument(hidden);
  for (const [at, { path, range }] of secrets.entries()) {
    found.push([marks[at] ?? '', { source: text.slice(...range), place: placeOf(shown, path) }]);
  }
  return { text: hidden, kept: new Map(found) };
}

/** A text as it may be shown and recorded beside another one. */
export function redacted({ text }: HiddenText): string {
  return text.replaceAll(MARK, '••••');
}

/** Plans have none, but a limit of API keys. */
function isSecret({ path, node }: TomlValue): boolean {
  if (node?.type !== 'TOMLValue' || path[0] === 'plan') return false;
  const isNamed = path.some((part) => typeof part === 'string' && SECRET_NAME.test(part));
  return isNamed && !(typeof node.value === 'string' && isPlain(node.value));
}

/** A path with the id of the upstream, so that the mark stays with it when others come and go. */
function nameOf(document: CatalogEntry, path: TomlPath): string {
  const id = textAt(upstreamAt(document, path), 'id');
  const named = id === undefined ? pathText(path) : `${id} ${pathText(path.slice(2))}`;
  return named.replaceAll(/[^\w.[\] -]/g, '?');
}

function upstreamAt(document: CatalogEntry, [kind, at]: TomlPath): unknown {
  return kind === 'upstream' && typeof at === 'number' ? listAt(document, kind)[at] : undefined;
}

function placeOf(document: CatalogEntry, path: TomlPath): string {
  const upstream = upstreamAt(document, path);
  if (upstream === undefined) return pathText(path);
  const member = path
    .slice(2)
    .filter((part) => typeof part === 'string')
    .join('.')
    .replace(/^api_keys$/, 'api_key');
  return JSON.stringify([member, memberOf(upstream, 'base_url'), memberOf(upstream, 'proxy')]);
}

/** The text of a page with the secrets that its marks stand for, and the marks that cannot be filled. */
export function filledText(
  text: string,
  kept: HiddenText['kept'],
): { readonly text: string; readonly problems: readonly Problem[] } {
  const { values, comments } = readToml(text);
  const document = plainDocument(text);
  const problems: Problem[] = [];
  const ranges = new Map(values.map(({ path, range }) => [pathText(path), range]));
  const before = stringsOf(document);
  const splices = before.flatMap(({ path, value }) => {
    const place = pathText(path);
    const range = ranges.get(place);
    if (value.match(MARK) === null) return [];
    const secret = kept.get(value);
    if (secret?.place === placeOf(document, path) && range !== undefined) {
      return [{ range, text: secret.source }];
    }
    problems.push({ path: place, text: secret === undefined ? UNKNOWN : MOVED });
    return [];
  });
  const said = comments.map((range) => ({
    range,
    text: text.slice(...range).replaceAll(MARK, (mark) => {
      const word = kept.get(mark);
      return word?.place === COMMENT ? word.source : mark;
    }),
  }));
  const filled = splicedText(text, [...splices, ...said]);
  // The two parsers of TOML must agree on where a secret went.
  const after = stringsOf(plainDocument(filled));
  const isAsBefore = before.every(({ path, value }, at) => {
    const isPlace = pathText(after[at]?.path ?? []) === pathText(path);
    return isPlace && (after[at]?.value === value || value.match(MARK) !== null);
  });
  if (!isAsBefore || before.length !== after.length) problems.push({ path: '', text: AMBIGUOUS });
  return { text: filled, problems };
}

const AMBIGUOUS = say('the text is written in a way that cannot be edited safely');

const UNKNOWN = say('is not a hidden key of the file');

const MOVED = say(
  'must be set again as a reference: a hidden key of the file stays with its member, its address and its proxy',
);

/** A page needs no secret to set it, and could send a token of the server to any address. */
const GOOGLE = say(
  'must be changed in the catalog file, as must the address and the proxy beside it: they receive tokens of the Google account of the server',
);

const LITERAL = say(
  'must be a reference such as {example}; set the key in the environment or the .env file of the server',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the catalog's own syntax.
  { example: '${EAST_KEY}' },
);

/**
 * What a page may not write: keys as literals, and references to variables where they would be shown
 * or sent as something else than a key. What `before`, the text of the file, has in the same member
 * may stay. `reserved` has the names of the server's own settings.
 */
export function secretProblems(
  text: string,
  before: string,
  reserved: ReadonlySet<string>,
): Problem[] {
  const memberText = ({ path, value }: ReturnType<typeof stringsOf>[number]) =>
    `${path.filter((part) => typeof part === 'string').join('.')} ${value}`;
  const [document, old] = [plainDocument(text), plainDocument(before)];
  const known = new Set(stringsOf(old).map(memberText));
  const written = stringsOf(document).filter((each) => !known.has(memberText(each)));
  return [
    ...written.flatMap(({ path, value }) => {
      const names = [...value.matchAll(REFERENCES)].map(([, name = '']) => name);
      const isKey = path[0] === 'upstream' && KEY.test(pathText(path.slice(2)));
      const problem = (words: Sentence) => [{ path: pathText(path), text: words }];
      if (value.match(MARK) !== null) return [];
      if (!isKey) {
        return names.length === 0
          ? []
          : problem(say('must not refer to a variable; only keys may'));
      }
      if (!isPlain(value)) return problem(LITERAL);
      return names.some((name) => reserved.has(name))
        ? problem(say('must not refer to a setting of the server'))
        : [];
    }),
    ...googleProblems(document, old),
  ];
}

function googleProblems(document: CatalogEntry, before: CatalogEntry): Problem[] {
  const accountOf = (upstream: unknown) =>
    JSON.stringify(['google', 'base_url', 'proxy'].map((name) => memberOf(upstream, name)));
  const known = new Set(listAt(before, 'upstream').map(accountOf));
  return listAt(document, 'upstream').flatMap((upstream, at) =>
    memberOf(upstream, 'google') === undefined || known.has(accountOf(upstream))
      ? []
      : [{ path: `upstream[${at}].google`, text: GOOGLE }],
  );
}

function stringsOf(
  value: unknown,
  path: TomlPath = [],
): { readonly path: TomlPath; readonly value: string }[] {
  if (typeof value === 'string') return [{ path, value }];
  if (Array.isArray(value)) return value.flatMap((each, at) => stringsOf(each, [...path, at]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => stringsOf(each, [...path, key]));
}
