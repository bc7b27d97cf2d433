// Writes values as TOML: strings, lists and inline tables on one line where they fit, and tables
// with a header of their own.

import { isObject } from '../core/json.ts';
import { tomlKey } from './schema.ts';

/** Longer lists are written with one element per line. */
const LINE_MAX = 90;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

export function isTables(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

/** A value within a line. `mayBreak` allows lines of its own for text and for lists. */
export function renderValue(value: unknown, mayBreak = false): string {
  if (typeof value === 'string') return renderText(value, mayBreak);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return renderList(value, mayBreak);
  if (!isObject(value)) throw new TypeError('a value has no form in TOML');
  const members = Object.entries(value).map(([key, member]) => renderEntry(key, member));
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** `key = value`. */
export function renderEntry(key: string, value: unknown, mayBreak = false): string {
  return `${tomlKey(key)} = ${renderValue(value, mayBreak)}`;
}

/** Lists of tables that get headers of their own below an entry. */
export const APART = ['prices'];

/** A table with its header, such as `[plan.free]` or, as an entry of a list, `[[model]]`. */
export function renderSection(
  path: readonly string[],
  table: Readonly<Record<string, unknown>>,
  isEntry: boolean,
  mayBreak: boolean,
): string {
  const name = path.map(tomlKey).join('.');
  const members = Object.entries(table);
  const isApart = (key: string, member: unknown) => APART.includes(key) && isTables(member);
  return [
    isEntry ? `[[${name}]]` : `[${name}]`,
    ...members.flatMap(([key, member]) =>
      isApart(key, member) ? [] : [renderEntry(key, member, mayBreak)],
    ),
    ...members.flatMap(([key, member]) =>
      isApart(key, member) && isTables(member)
        ? member.map((each) => `\n${renderSection([...path, key], each, true, mayBreak)}`)
        : [],
    ),
  ].join('\n');
}

/** An instant is written as TOML's own where that reads back as the same text. */
function renderText(text: string, mayBreak: boolean): string {
  if (INSTANT.test(text) && String(Object(Bun.TOML.parse(`at = ${text}`)).at) === text) return text;
  if (!mayBreak || !text.includes('\n') || text.includes('\r')) return quoted(text);
  return `"""\n${text
    .split('\n')
    .map((line) => quoted(line).slice(1, -1))
    .join('\n')}"""`;
}

/** JSON's escapes are TOML's, except that JSON leaves DEL as it is. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f');
}

function renderList(list: readonly unknown[], mayBreak: boolean): string {
  const items = list.map((item) => renderValue(item));
  const line = `[${items.join(', ')}]`;
  const breaks = line.length > LINE_MAX || (isTables(list) && list.length > 1);
  return mayBreak && breaks ? `[\n${items.map((item) => `  ${item},\n`).join('')}]` : line;
}
