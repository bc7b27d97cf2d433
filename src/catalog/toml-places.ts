// Where each value of a TOML text stands: a tree with the shape of the document, whose nodes have
// the range of their `key = value`, of their element of a list, or of their headers.

import { type AST, parseTOML } from 'toml-eslint-parser';

export type TextRange = readonly [start: number, end: number];

/** A list or an inline table, with the ranges of what it has; a plain value has no items. */
export type TomlItems = {
  readonly range: TextRange;
  readonly isTable: boolean;
  readonly items: readonly TextRange[];
};

/** A `key = value`, with the key as it is written up to its last part. */
type Entry = {
  readonly range: TextRange;
  readonly prefix: string;
  /** The inline table that has it. */
  readonly within: TomlItems | undefined;
};

/** A table with a header, or the top of the file: up to its last entry. */
export type Section = { readonly range: TextRange; readonly entries: readonly Entry[] };

export type TomlPlace = {
  readonly members: Map<string, TomlPlace>;
  readonly elements: TomlPlace[];
  /** The sections of exactly this table. */
  readonly sections: Section[];
  /** The value, where the text has it in one piece. */
  value?: TomlItems;
  /** Its own entry; absent for elements of lists and for tables with headers or dotted keys. */
  entry?: Entry;
};

/** The root of the tree, and the ranges of the comments. Throws where the text is not TOML. */
export function placesOf(text: string): {
  readonly root: TomlPlace;
  readonly comments: readonly TextRange[];
} {
  const root = newPlace();
  const { body, comments } = parseTOML(text, { tomlVersion: '1.1' });
  const [top] = body;
  const entries = top.body.filter((each) => each.type === 'TOMLKeyValue');
  addSection(root, [0, 0], entries, text);
  for (const table of top.body) {
    if (table.type !== 'TOMLTable') continue;
    addSection(placeAt(root, table.resolvedKey), table.range, table.body, text);
  }
  return { root, comments: comments.map(({ range }) => range) };
}

function newPlace(): TomlPlace {
  return { members: new Map(), elements: [], sections: [] };
}

function addSection(
  place: TomlPlace,
  [start, headerEnd]: TextRange,
  body: readonly AST.TOMLKeyValue[],
  text: string,
): void {
  const entries = body.map((each) => addEntry(place, each, undefined, text));
  const end = entries.at(-1)?.range[1] ?? headerEnd;
  place.sections.push({ range: [start, end], entries });
}

function addEntry(
  table: TomlPlace,
  { key, value, range }: AST.TOMLKeyValue,
  within: TomlItems | undefined,
  text: string,
): Entry {
  const names = key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));
  const last = key.keys.at(-1)?.range[0] ?? key.range[0];
  const place = placeAt(table, names);
  const entry = { range, prefix: text.slice(key.range[0], last), within };
  place.entry = entry;
  addValue(place, value, text);
  return entry;
}

function addValue(place: TomlPlace, node: AST.TOMLContentNode, text: string): void {
  const isTable = node.type === 'TOMLInlineTable';
  const nodes =
    node.type === 'TOMLInlineTable' ? node.body : node.type === 'TOMLArray' ? node.elements : [];
  const items = nodes.map(({ range }) => range);
  const value: TomlItems = { range: node.range, isTable, items };
  place.value = value;
  if (node.type === 'TOMLInlineTable') {
    for (const entry of node.body) addEntry(place, entry, value, text);
  }
  if (node.type === 'TOMLArray') {
    for (const [index, element] of node.elements.entries()) {
      addValue(placeAt(place, [index]), element, text);
    }
  }
}

function placeAt(from: TomlPlace, path: readonly (string | number)[]): TomlPlace {
  return path.reduce<TomlPlace>((place, part) => {
    if (typeof part === 'number') {
      place.elements[part] ??= newPlace();
      return place.elements[part];
    }
    return place.members.getOrInsertComputed(part, newPlace);
  }, from);
}

/** All places below and including this one that are in the text as parts, not within a value. */
export function partsOf(place: TomlPlace): TomlPlace[] {
  if (place.value !== undefined) return [place];
  const below = [...place.members.values(), ...place.elements].flatMap(partsOf);
  return [place, ...below];
}
