// Changes the text of a TOML file so that it says another document: only the values, lines and
// sections that differ are touched, so comments, order and layout stay. The result is parsed and
// compared before it is returned.

import { isObject } from '../core/json.ts';
import { parseToml, substitute } from './source.ts';
import { aligned } from './toml-align.ts';
import {
  partsOf,
  placesOf,
  type TextRange,
  type TomlItems,
  type TomlPlace,
} from './toml-places.ts';
import { createSplices } from './toml-splices.ts';
import { isTables, renderEntry, renderSection, renderValue } from './toml-values.ts';

/** Lists of tables that get headers of their own below an entry. */
const APART = ['prices'];

/** Tables whose members are tables with names of their own. */
const NAMING = ['plan', 'profile'];

type Table = Readonly<Record<string, unknown>>;
type Path = readonly string[];

/** Keeps environment references, and instants as text. */
export function plainDocument(text: string): Table {
  const document = substitute(parseToml(text, 'catalog'), {}, []);
  return isObject(document) ? document : {};
}

/**
 * The text with `wanted` as its document; `undefined` where the text is written in a way that
 * cannot be edited safely.
 */
export function editToml(text: string, wanted: Table): string | undefined {
  try {
    const edited = edit(text, wanted);
    return Bun.deepEquals(plainDocument(edited), wanted) ? edited : undefined;
  } catch {
    return undefined;
  }
}

function edit(text: string, wanted: Table): string {
  const splices = createSplices(text);
  const mayBreak = !splices.isCrlf;
  const { root } = placesOf(text);
  const sections = partsOf(root)
    .flatMap((part) => part.sections.map(({ range }) => range))
    .sort(([a], [b]) => a - b);
  const inline = new Map<TomlItems, { removed: Set<number>; added: Map<number, string[]> }>();
  changeTable(root, plainDocument(text), wanted, []);
  for (const [value, changes] of inline) splices.changeItems(value, changes);
  return splices.apply();

  function change(place: TomlPlace | undefined, before: unknown, after: unknown, path: Path): void {
    if (Bun.deepEquals(before, after)) return;
    if (isObject(before) && isObject(after)) changeTable(found(place), before, after, path);
    else if (Array.isArray(before) && Array.isArray(after)) {
      changeList(found(place), before, after, path);
    } else {
      const { value, entry } = found(place);
      const isOwnLine = entry !== undefined && entry.within === undefined;
      splices.replace(found(value).range, renderValue(after, isOwnLine && mayBreak));
    }
  }

  function changeTable(place: TomlPlace, before: Table, after: Table, path: Path): void {
    /** A table in parts that becomes something else goes, and is written again. */
    const isKept = (key: string): boolean =>
      Object.hasOwn(before, key) &&
      (place.members.get(key)?.value !== undefined || isAlike(before[key], after[key]));
    for (const [key, value] of Object.entries(before)) {
      const member = place.members.get(key);
      if (Object.hasOwn(after, key) && isKept(key))
        change(member, value, after[key], [...path, key]);
      else cut(found(member));
    }
    const keys = Object.keys(after);
    for (const [index, key] of keys.entries()) {
      if (!isKept(key)) add(place, keys.slice(0, index + 1), after[key], path);
    }
  }

  function changeList(
    place: TomlPlace,
    before: readonly unknown[],
    after: readonly unknown[],
    path: Path,
  ): void {
    const { value, elements } = place;
    let last: number | undefined;
    for (const { from, to } of aligned(before, after)) {
      const item = to === undefined ? undefined : after[to];
      if (from === undefined) {
        if (value === undefined) addEntryOf(path, item, elements, last);
        else addItem(value, last ?? -1, renderValue(item));
        continue;
      }
      last = from;
      if (to !== undefined) change(elements[from], before[from], item, path);
      else if (value === undefined) cut(found(elements[from]));
      else changesOf(value).removed.add(from);
    }
  }

  /** Adds a `[[path]]` after an element, or before the first one. */
  function addEntryOf(
    path: Path,
    entry: unknown,
    elements: readonly TomlPlace[],
    after: number | undefined,
  ): void {
    const section = renderSection(path, Object(entry), true, APART, mayBreak);
    const place = found(elements[after ?? 0]);
    if (after === undefined) splices.addSectionBefore(startOf(place), section);
    else splices.addSectionAfter(endOf(place), section);
  }

  function cut(place: TomlPlace): void {
    const { entry } = place;
    if (entry?.within !== undefined) {
      const { within, range } = entry;
      changesOf(within).removed.add(within.items.indexOf(range));
      return;
    }
    const parts = partsOf(place);
    const own = parts.flatMap((part) => part.sections.map(({ range }) => range));
    splices.cutSections(own, sections);
    for (const part of parts) {
      // A dotted key may stand in an inline table.
      if (part.entry?.within !== undefined) cut(part);
      else if (part.entry !== undefined) splices.cutLines(part.entry.range);
    }
  }

  /** Adds the last of `keys` to a table, after those before it where they are. */
  function add(place: TomlPlace, keys: readonly string[], value: unknown, path: Path): void {
    const key = found(keys.at(-1));
    if (place.value?.isTable === true) {
      const { items } = place.value;
      const { removed } = changesOf(place.value);
      const last = items.findLastIndex((_, index) => !removed.has(index));
      addItem(place.value, last, renderEntry(key, value));
      return;
    }
    if (isApart(path, key, value)) {
      addApart(place, [...path, key], value);
      return;
    }
    const entries = keys.flatMap((each) => place.members.get(each)?.entry ?? []);
    const section = place.sections[0];
    const own = section?.entries ?? [];
    const previous =
      entries.findLast((entry) => own.includes(entry)) ?? own.at(-1) ?? entries.at(-1);
    if (previous === undefined) {
      // A header without entries.
      splices.addLineAfter(found(section).range, renderEntry(key, value, mayBreak));
    } else if (previous.within !== undefined) {
      const { within, range, prefix } = previous;
      addItem(within, within.items.indexOf(range), `${prefix}${renderEntry(key, value)}`);
    } else {
      const prefix = section === undefined ? previous.prefix : '';
      splices.addLineAfter(previous.range, `${prefix}${renderEntry(key, value, mayBreak)}`);
    }
  }

  /** After the last section of the same table, or at the end of the file. */
  function addApart(place: TomlPlace, path: Path, value: unknown): void {
    if (path.length === 1 && NAMING.includes(path[0] ?? '')) {
      for (const [name, table] of Object.entries(Object(value))) {
        addApart(place, [...path, name], table);
      }
      return;
    }
    const isNew = place === root || rangesOf(place).length === 0;
    const end = isNew ? text.length : endOf(place);
    const tables = isTables(value) ? value : [Object(value)];
    for (const table of tables) {
      splices.addSectionAfter(end, renderSection(path, table, isTables(value), APART, mayBreak));
    }
  }

  function addItem(value: TomlItems, after: number, item: string): void {
    const { added } = changesOf(value);
    added.set(after, [...(added.get(after) ?? []), item]);
  }

  function changesOf(value: TomlItems) {
    return inline.getOrInsertComputed(value, () => ({ removed: new Set(), added: new Map() }));
  }
}

/** Top-level tables and lists of tables, the tables of `[plan]` and `[profile]`, and `prices`. */
function isApart(path: Path, key: string, value: unknown): boolean {
  if (path.length === 0) return isObject(value) || isTables(value);
  if (NAMING.includes(path.join('.'))) return isObject(value);
  return APART.includes(key) && isTables(value);
}

function isAlike(one: unknown, other: unknown): boolean {
  return isObject(one) === isObject(other) && Array.isArray(one) === Array.isArray(other);
}

function startOf(place: TomlPlace): number {
  return Math.min(...rangesOf(place).map(([start]) => start));
}

function endOf(place: TomlPlace): number {
  return Math.max(...rangesOf(place).map(([, end]) => end));
}

function rangesOf(place: TomlPlace): TextRange[] {
  return partsOf(place).flatMap(({ sections }) => sections.map(({ range }) => range));
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError('a value has no place in the text');
  return value;
}
