// Keeps the secrets of a catalog out of the console: literal keys are hidden in entries and in text,
// and an edited entry gets them back. A form can set a key only by the name of a variable.

import { isObject } from '../core/json.ts';
import { listAt, memberOf, textAt } from './document.ts';
import type { CatalogEntry } from './entries.ts';
import type { Problem } from './schema.ts';
import { placesOf, type TextRange, type TomlPlace } from './toml-places.ts';
import { createSplices } from './toml-splices.ts';

const HIDDEN = '••••';
const REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const REFERENCES = /\$\{([^}]*)\}/g;

/** Stands for a key of the file; the number is its place in the list of keys. */
const KEPT = /^<kept (\d+)>$/;

/** Names of members whose text is hidden in shown text, in any table. */
const SECRET_NAME =
  /(?:^|[_-])(?:api[_-]?keys?|access[_-]?key(?:[_-]?id)?|secret|password|authorization|proxy|token)$/i;

/** A password within an address is hidden as well. */
function isPlain(text: string): boolean {
  if (text === '' || REFERENCE.test(text)) return true;
  return /^https?:\/\//.test(text) && (!text.includes('@') || /:\$\{[A-Za-z_]\w*\}@/.test(text));
}

function keysOf(upstream: unknown): readonly unknown[] {
  const key = textAt(upstream, 'api_key');
  return key === undefined ? listAt(upstream, 'api_keys') : [key];
}

/** An upstream with each of its secrets replaced; `at` is the place in a list of keys. */
function mapSecrets(
  upstream: CatalogEntry,
  replace: (path: string, value: unknown, at: number) => unknown,
): CatalogEntry {
  const { api_key, api_keys, proxy, aws } = upstream;
  return {
    ...upstream,
    ...(api_key !== undefined && { api_key: replace('api_key', api_key, 0) }),
    ...(Array.isArray(api_keys) && {
      api_keys: api_keys.map((key, at) => replace(`api_keys[${at}]`, key, at)),
    }),
    ...(proxy !== undefined && { proxy: replace('proxy', proxy, 0) }),
    ...(isObject(aws) && {
      aws: Object.fromEntries(
        Object.entries(aws).map(([name, value]) => [
          name,
          name === 'region' ? value : replace(`aws.${name}`, value, 0),
        ]),
      ),
    }),
  };
}

/** An upstream as a form may have it: literal secrets are replaced by marks. */
export function masked(upstream: CatalogEntry): CatalogEntry {
  return mapSecrets(upstream, (_, value, at) =>
    typeof value !== 'string' || isPlain(value) ? value : `<kept ${at + 1}>`,
  );
}

/** The secrets of an upstream that a mark at this path can stand for. */
function secretsAt(path: string, source: CatalogEntry | undefined): readonly unknown[] {
  const [table = '', member] = path.split('.');
  if (member !== undefined) return [memberOf(memberOf(source, table), member)];
  return path === 'proxy' ? [memberOf(source, path)] : keysOf(source);
}

/**
 * An upstream with the marks replaced by what they stand for in `source`. Keys of the file are not
 * sent to another address: a form that changes it has to set them.
 */
export function unmasked(
  upstream: CatalogEntry,
  source: CatalogEntry | undefined,
): { readonly entry: CatalogEntry; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const isMoved = ['base_url', 'proxy'].some((member) => {
    const value = memberOf(upstream, member);
    return !KEPT.test(String(value)) && value !== memberOf(source, member);
  });
  const entry = mapSecrets(upstream, (path, value) => {
    const number = KEPT.exec(String(value))?.[1];
    if (number === undefined) return value;
    const secret = secretsAt(path, source)[Number(number) - 1];
    if (isMoved) problems.push({ path, text: MOVED });
    else if (secret === undefined) problems.push({ path, text: 'is no longer in the file' });
    return secret ?? value;
  });
  const { google } = upstream;
  const isSame = JSON.stringify(google) === JSON.stringify(memberOf(source, 'google'));
  if (google !== undefined && (isMoved || !isSame)) problems.push({ path: 'google', text: GOOGLE });
  return { entry, problems };
}

const MOVED =
  'must be set again as a reference, because the address or the proxy changes and the key of the file would be sent there';

/** A form needs no secret to set it, and could send a token of the server to any address. */
const GOOGLE =
  'must be changed in the catalog file, as must the address and the proxy beside it: they receive tokens of the Google account of the server';

const LITERAL =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the catalog's own syntax.
  'must be a reference such as ${EAST_KEY}; set the key in the environment or the .env file of the server';

/**
 * What a form may not write: keys as literals, and references to variables where they would be shown
 * or sent as something else than a key. What `source` has already may stay. `reserved` has the
 * names of the server's own settings.
 */
export function secretProblems(
  entry: CatalogEntry,
  source: CatalogEntry | undefined,
  reserved: ReadonlySet<string>,
): Problem[] {
  const known = new Set(texts(source ?? {}).map(({ text }) => text));
  return texts(entry).flatMap(({ path, text }) => {
    if (known.has(text)) return [];
    const names = [...text.matchAll(REFERENCES)].map(([, name = '']) => name);
    const isSecret = /^(?:api_key|api_keys\[\d+\]|proxy|aws\.(?!region$).+)$/.test(path);
    if (!isSecret) {
      return names.length === 0
        ? []
        : [{ path, text: 'must not refer to a variable; only keys may' }];
    }
    if (!isPlain(text)) return [{ path, text: LITERAL }];
    return names.some((name) => reserved.has(name))
      ? [{ path, text: 'must not refer to a setting of the server' }]
      : [];
  });
}

function texts(value: unknown, path = ''): { readonly path: string; readonly text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((each, at) => texts(each, `${path}[${at}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    texts(each, path === '' ? key : `${path}.${key}`),
  );
}

/** The names of variables that an upstream's keys refer to. */
export function variablesOf(upstream: CatalogEntry): string[] {
  const secrets: string[] = [];
  mapSecrets(upstream, (_, value) => secrets.push(String(value)));
  return secrets.flatMap((secret) => [...secret.matchAll(REFERENCES)].map(([, name = '']) => name));
}

/**
 * The text of a catalog file without its secrets: literal keys, and what looks like one in a comment.
 */
export function redacted(text: string): string {
  const splices = createSplices(text);
  const { root, comments } = placesOf(text);
  for (const range of secretRanges(root, false)) {
    const value = text.slice(...range);
    if (!isPlain(value.replaceAll(/^["']+|["']+$/g, ''))) splices.replace(range, `"${HIDDEN}"`);
  }
  for (const [start, end] of comments) {
    const comment = text.slice(start, end);
    const shown = comment.replaceAll(/[A-Za-z0-9_+/=.-]{16,}/g, (word) =>
      /\d/.test(word) && /[A-Za-z]/.test(word) ? HIDDEN : word,
    );
    if (shown !== comment) splices.replace([start, end], shown);
  }
  return splices.apply();
}

function secretRanges(place: TomlPlace, isSecret: boolean): TextRange[] {
  const { value, members, elements } = place;
  const isWhole = members.size + elements.length === 0;
  return [
    ...(isSecret && value !== undefined && isWhole ? [value.range] : []),
    ...elements.flatMap((each) => secretRanges(each, isSecret)),
    ...[...members].flatMap(([name, each]) =>
      secretRanges(each, isSecret || SECRET_NAME.test(name)),
    ),
  ];
}
