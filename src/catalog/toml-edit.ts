// Changes models, upstreams and plans in the text of a catalog. Only their own tables are touched,
// and in these only the members that differ, so that comments, order and layout stay around them.
// The result is parsed and compared before it is returned.

import { isObject } from '../core/json.ts';
import { listAt, memberOf, tableAt, textAt } from './document.ts';
import { type CatalogEntry, type CatalogEntryKind, NAMED_BY } from './entries.ts';
import { parseToml, substitute } from './source.ts';
import {
  elementsOf,
  membersOf,
  readToml,
  type TextRange,
  type TomlEntry,
  type TomlNode,
  type TomlPath,
  type TomlTable,
} from './toml-text.ts';
import { APART, isTables, renderEntry, renderSection, renderValue } from './toml-values.ts';

type TextSplice = { readonly range: TextRange; readonly text: string };

/** Keeps environment references, and instants as text. */
export function plainDocument(text: string): CatalogEntry {
  const document = substitute(parseToml(text, 'catalog'), {}, []);
  return isObject(document) ? document : {};
}

/**
 * The text with the entries of `wanted`; `undefined` where its tables are written in a way that
 * cannot be edited safely, or where other parts of the document differ.
 */
export function editToml(text: string, wanted: CatalogEntry): string | undefined {
  try {
    const edited = edit(text, wanted);
    return Bun.deepEquals(plainDocument(edited), wanted) ? edited : undefined;
  } catch {
    return undefined;
  }
}

function edit(text: string, wanted: CatalogEntry): string {
  const isCrlf = text.includes('\r\n');
  const splices: TextSplice[] = [];
  const replace = (range: TextRange, to: string): void =>
    void splices.push({ range, text: isCrlf ? to.replaceAll('\n', '\r\n') : to });
  const before = plainDocument(text);
  const { tables } = readToml(text);
  for (const kind of ['upstream', 'model', 'plan'] as const) {
    const left = partsOf(wanted, kind);
    let end = text.length;
    for (const { key, name, table } of partsOf(before, kind)) {
      const own = tables.filter(({ path }) => isWithin(path, [kind, key]));
      end = own.at(-1)?.range[1] ?? end;
      const at = left.findIndex((each) => each.name === name);
      const [next] = at < 0 ? [] : left.splice(at, 1);
      if (next === undefined) cutTables(own);
      else changeEntry([kind, key], own, table, next.table);
    }
    const isPlan = kind === 'plan';
    for (const { key, table } of left) addTable(end, isPlan ? [kind, key] : [kind], table, !isPlan);
  }
  return splicedText(text, splices);

  function changeEntry(
    path: TomlPath,
    own: readonly TomlTable[],
    old: CatalogEntry,
    next: CatalogEntry,
  ): void {
    if (Bun.deepEquals(old, next)) return;
    const main = found(own.find((table) => table.path.length === path.length));
    const added: string[] = [];
    for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) {
      const [from, to] = [memberOf(old, key), memberOf(next, key)];
      if (Bun.deepEquals(from, to)) continue;
      const entries = main.entries.filter(({ keys }) => keys[0] === key);
      const below = own.filter((table) => isWithin(table.path, [...path, key]));
      const [entry] = entries;
      if (entry?.keys.length === 1 && to !== undefined) change(entry.node, from, to, !isCrlf);
      else if (below.length > 0 && isTables(from) && isTables(to)) {
        changeTables([...path, key], below, from, to);
      } else {
        for (const { range } of entries) replace([lineStart(range[0]), lineEnd(range[1])], '');
        cutTables(below);
        if (to !== undefined && APART.includes(key) && isTables(to)) {
          for (const each of to) {
            addTable(found(own.at(-1)).range[1], [...path, key].filter(isName), each, true);
          }
        } else if (to !== undefined) added.push(renderEntry(key, to, !isCrlf));
      }
    }
    if (added.length > 0) addLines(main.range[1], added.join('\n'));
  }

  /** Tables with headers, such as `[[model.prices]]`: those that stay keep their text. */
  function changeTables(
    path: TomlPath,
    own: readonly TomlTable[],
    old: readonly CatalogEntry[],
    next: readonly CatalogEntry[],
  ): void {
    const tablesOf = (at: number) => own.filter((table) => isWithin(table.path, [...path, at]));
    const kept = old.map((each) => next.findIndex((one) => Bun.deepEquals(each, one)));
    for (const [at, to] of kept.entries()) if (to < 0) cutTables(tablesOf(at));
    for (const [at, each] of next.entries()) {
      if (kept.includes(at)) continue;
      const name = path.filter(isName);
      const after = kept.findIndex((to) => to > at);
      if (after >= 0) addTableBefore(found(tablesOf(after)[0]).range[0], name, each);
      else addTable(found(own.at(-1)).range[1], name, each, true);
    }
  }

  /** A value in its place, without what it shares with the one before. */
  function change(node: TomlNode, from: unknown, to: unknown, mayBreak = false): void {
    if (Bun.deepEquals(from, to)) return;
    const [elements, members] = [elementsOf(node), membersOf(node)];
    const isList = Array.isArray(from) && Array.isArray(to) && from.length === to.length;
    if (isList && elements.length > 0) {
      for (const [at, each] of elements.entries()) change(each, from[at], to[at]);
    } else if (isObject(from) && isObject(to) && isExtended(members, from, to)) {
      for (const { keys, node: each } of members) {
        change(each, from[keys[0] ?? ''], to[keys[0] ?? '']);
      }
      const added = Object.keys(to).filter((key) => !Object.hasOwn(from, key));
      const end = found(members.at(-1)).range[1];
      replace([end, end], added.map((key) => `, ${renderEntry(key, to[key])}`).join(''));
    } else replace(node.range, renderValue(to, mayBreak));
  }

  function addTable(after: number, path: TomlPath, table: CatalogEntry, isList: boolean): void {
    const section = renderSection(path.filter(isName), table, isList, !isCrlf);
    addLines(after, `\n${section}`);
  }

  function addTableBefore(start: number, path: readonly string[], table: CatalogEntry): void {
    const section = renderSection(path, table, true, !isCrlf);
    replace([lineStart(start), lineStart(start)], `${section}\n\n`);
  }

  function addLines(after: number, lines: string): void {
    const at = lineEnd(after);
    const isOpen = at === text.length && text !== '' && !text.endsWith('\n');
    replace([at, at], isOpen ? `\n${lines}` : `${lines}\n`);
  }

  /** With the empty line before them. Comments before the first table stay. */
  function cutTables(own: readonly TomlTable[]): void {
    const [first] = own;
    if (first === undefined) return;
    const last = tables[tables.indexOf(first) + own.length - 1];
    if (last === undefined || last !== own.at(-1)) throw new RangeError('tables are apart');
    const from = lineStart(first.range[0]);
    const previous = lineStart(Math.max(0, from - 1));
    const isBlank = from > 0 && text.slice(previous, from).trim() === '';
    replace([isBlank ? previous : from, lineEnd(last.range[1])], '');
  }

  function lineStart(at: number): number {
    return text.lastIndexOf('\n', at - 1) + 1;
  }

  /** After the newline of the line. */
  function lineEnd(at: number): number {
    const newline = text.indexOf('\n', at);
    return newline < 0 ? text.length : newline + 1;
  }
}

/** A text with some of its ranges replaced. Throws where two of them overlap. */
export function splicedText(text: string, splices: readonly TextSplice[]): string {
  const sorted = splices.toSorted((a, b) => a.range[0] - b.range[0] || a.range[1] - b.range[1]);
  let result = '';
  let at = 0;
  for (const { range, text: to } of sorted) {
    if (range[0] < at) throw new RangeError('two changes overlap');
    result += text.slice(at, range[0]) + to;
    at = range[1];
  }
  return result + text.slice(at);
}

/** Whether every member has a key of its own and stays, with any value. */
function isExtended(members: readonly TomlEntry[], from: CatalogEntry, to: CatalogEntry): boolean {
  const isPlain = members.length > 0 && members.every(({ keys }) => keys.length === 1);
  return isPlain && Object.keys(from).every((key) => Object.hasOwn(to, key));
}

function isWithin(path: TomlPath, whole: TomlPath): boolean {
  return whole.every((part, at) => path[at] === part);
}

function isName(part: string | number): part is string {
  return typeof part === 'string';
}

/** The entries of a kind, each with its key in the document and its name. */
function partsOf(document: CatalogEntry, kind: CatalogEntryKind) {
  if (kind === 'plan') {
    return tableAt(document, kind).map(([key, plan]) => ({ key, name: key, table: Object(plan) }));
  }
  return listAt(document, kind).map((entry, key) => {
    return { key, name: textAt(entry, NAMED_BY[kind]), table: Object(entry) };
  });
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError('a value has no place in the text');
  return value;
}
