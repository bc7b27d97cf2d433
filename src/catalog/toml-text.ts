// Where everything of a TOML text stands: its tables, its values by their path, and its comments.

import { type AST, parseTOML } from 'toml-eslint-parser';
import { tomlKey } from './schema.ts';

export type TextRange = readonly [start: number, end: number];

export type TomlPath = readonly (string | number)[];

export type TomlNode = AST.TOMLContentNode;

export type TomlEntry = {
  readonly keys: readonly string[];
  readonly range: TextRange;
  readonly node: TomlNode;
};

/** A table with a header, or the top of the file: up to its last entry. */
export type TomlTable = {
  readonly path: TomlPath;
  readonly range: TextRange;
  readonly entries: readonly TomlEntry[];
};

/** A table or a value. A table with a header has no node. */
export type TomlValue = {
  readonly path: TomlPath;
  readonly range: TextRange;
  readonly node?: TomlNode;
};

/** Throws where the text is not TOML. */
export function readToml(text: string): {
  readonly tables: readonly TomlTable[];
  readonly values: readonly TomlValue[];
  readonly comments: readonly TextRange[];
} {
  const { body, comments } = parseTOML(text, { tomlVersion: '1.1' });
  const [top] = body;
  const tables: TomlTable[] = [];
  const values: TomlValue[] = [];
  addTable([], [0, 0], top.body);
  for (const table of top.body) {
    if (table.type === 'TOMLTable') addTable(table.resolvedKey, table.range, table.body);
  }
  return { tables, values, comments: comments.map(({ range }) => range) };

  function addTable(path: TomlPath, [start, end]: TextRange, below: readonly AST.TOMLNode[]): void {
    values.push({ path, range: [start, end] });
    const entries = below.flatMap((each) => (each.type === 'TOMLKeyValue' ? [entryOf(each)] : []));
    for (const entry of entries) addEntry(path, entry);
    tables.push({ path, range: [start, entries.at(-1)?.range[1] ?? end], entries });
  }

  function addEntry(path: TomlPath, { keys, node }: TomlEntry): void {
    addValue([...path, ...keys], node);
  }

  function addValue(path: TomlPath, node: TomlNode): void {
    values.push({ path, range: node.range, node });
    for (const entry of membersOf(node)) addEntry(path, entry);
    for (const [at, element] of elementsOf(node).entries()) addValue([...path, at], element);
  }
}

/** The entries of an inline table. */
export function membersOf(node: TomlNode): TomlEntry[] {
  return node.type === 'TOMLInlineTable' ? node.body.map(entryOf) : [];
}

export function elementsOf(node: TomlNode): readonly TomlNode[] {
  return node.type === 'TOMLArray' ? node.elements : [];
}

function entryOf({ key, value, range }: AST.TOMLKeyValue): TomlEntry {
  const keys = key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));
  return { keys, range, node: value };
}

/** A path as problems have it, such as `model[2].price.output`. */
export function pathText(path: TomlPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? tomlKey(part) : `${text}.${tomlKey(part)}`;
  }, '');
}
