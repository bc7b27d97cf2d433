// Collects replacements of ranges in a text and applies them at once. Knows lines, and the commas
// of lists and inline tables.

import type { TextRange, TomlItems } from './toml-places.ts';

type Splice = { readonly start: number; readonly end: number; readonly text: string };

/** What changes in a list or an inline table. */
export type ItemChange = {
  readonly removed: ReadonlySet<number>;
  /** New items by the index of the item that they follow; -1 for the first ones. */
  readonly added: ReadonlyMap<number, readonly string[]>;
};

export function createSplices(text: string) {
  const isCrlf = text.includes('\r\n');
  const splices: Splice[] = [];

  const replace = ([start, end]: TextRange, to: string): void =>
    void splices.push({ start, end, text: to });
  const cut = (start: number, end: number): void => replace([start, end], '');
  const insert = (at: number, added: string): void => replace([at, at], added);

  const lineStart = (at: number): number => text.lastIndexOf('\n', at - 1) + 1;

  /** After the newline of the line. */
  function lineEnd(at: number): number {
    const newline = text.indexOf('\n', at);
    return newline < 0 ? text.length : newline + 1;
  }

  /** Inserts lines at the start of a line or at the end of the text. */
  function insertLines(at: number, lines: string): void {
    const isOpen = at === text.length && text !== '' && !text.endsWith('\n');
    insert(at, isOpen ? `\n${lines}` : `${lines}\n`);
  }

  function cutSection([start, end]: TextRange): void {
    const from = lineStart(start);
    const before = lineStart(Math.max(0, from - 1));
    const isBlank = from > 0 && text.slice(before, from).trim() === '';
    cut(isBlank ? before : from, lineEnd(end));
  }

  /** The end of the comma after an item; `undefined` where there is none. */
  function commaAfter(end: number): number | undefined {
    const between = /^(?:\s|#[^\n]*)*,/.exec(text.slice(end));
    return between === null ? undefined : end + between[0].length;
  }

  /** Whether an item has lines of its own, with its comma and a comment at most. */
  function isAlone([start, end]: TextRange): boolean {
    const after = text.slice(end, lineEnd(end));
    return (
      text.slice(lineStart(start), start).trim() === '' &&
      /^[ \t]*,?[ \t]*(?:#.*)?\r?\n$/.test(after)
    );
  }

  function cutItems(items: readonly TextRange[], removed: ReadonlySet<number>): void {
    const kept = items.flatMap((_, index) => (removed.has(index) ? [] : [index]));
    const lastKept = items[kept.at(-1) ?? 0];
    const last = items.at(-1);
    for (const [index, [start, end]] of items.entries()) {
      if (!removed.has(index)) continue;
      if (isAlone([start, end])) cut(lineStart(start), lineEnd(end));
      else if (lastKept !== undefined && last !== undefined && start > lastKept[1]) {
        const hasLines = text.slice(lastKept[1], last[1]).includes('\n');
        cut(hasLines ? start : lastKept[1], end);
      } else {
        const comma = commaAfter(end) ?? end;
        cut(start, comma + spacesAt(comma));
      }
    }
  }

  const spacesAt = (at: number): number => /^[ \t]*/.exec(text.slice(at))?.[0].length ?? 0;

  function addItems(items: readonly TextRange[], after: number, added: readonly string[]): void {
    const item = items[Math.max(0, after)];
    if (item === undefined) return;
    const [start, end] = item;
    const indent = text.slice(lineStart(start), start);
    if (after < 0) {
      const one = added.map((each) => (isAlone(item) ? `${indent}${each},\n` : `${each}, `));
      insert(isAlone(item) ? lineStart(start) : start, one.join(''));
    } else if (isAlone(item)) {
      const comma = commaAfter(end);
      if (comma === undefined) insert(end, ',');
      insert(lineEnd(comma ?? end), added.map((each) => `${indent}${each},\n`).join(''));
    } else insert(end, added.map((each) => `, ${each}`).join(''));
  }

  return {
    isCrlf,
    replace,
    /** Adds and removes items of a list or an inline table. */
    changeItems({ range: [start, end], isTable, items }: TomlItems, change: ItemChange): void {
      const { removed, added } = change;
      if (removed.size < items.length) {
        cutItems(items, removed);
        for (const [after, texts] of added) addItems(items, after, texts);
        return;
      }
      const inner = [...added.values()].flat().join(', ');
      replace([start + 1, end - 1], isTable && inner !== '' ? ` ${inner} ` : inner);
    },
    /** Removes whole lines. */
    cutLines: ([start, end]: TextRange): void => cut(lineStart(start), lineEnd(end)),
    /**
     * Removes sections, each with the empty line before it. Comments before a section stay, except
     * between two that go.
     */
    cutSections(sections: readonly TextRange[], all: readonly TextRange[]): void {
      const runs: [number, number][] = [];
      let isRun = false;
      for (const section of all) {
        const run = runs.at(-1);
        const goes = sections.includes(section);
        if (goes && isRun && run !== undefined) run[1] = section[1];
        else if (goes) runs.push([...section]);
        isRun = goes;
      }
      for (const run of runs) cutSection(run);
    },
    addLineAfter([, end]: TextRange, line: string): void {
      insertLines(lineEnd(end), line);
    },
    addSectionAfter(end: number, section: string): void {
      insertLines(lineEnd(end), `\n${section}`);
    },
    addSectionBefore(start: number, section: string): void {
      insertLines(lineStart(start), `${section}\n`);
    },
    /** The text with all changes. Throws where two of them overlap. */
    apply(): string {
      const sorted = [...splices].sort((a, b) => a.start - b.start || a.end - b.end);
      let result = '';
      let at = 0;
      let wasCut = false;
      for (const { start, end, text: to } of sorted) {
        const isCut = to === '';
        if (start < at && !(isCut && wasCut)) throw new RangeError('two changes overlap');
        result += text.slice(at, start) + (isCrlf ? to.replaceAll('\n', '\r\n') : to);
        at = Math.max(at, end);
        wasCut = isCut;
      }
      return result + text.slice(at);
    },
  };
}
