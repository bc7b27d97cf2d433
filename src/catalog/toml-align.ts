// Pairs the elements of two versions of a list, so that an edit touches only those that changed.

import { isObject } from '../core/json.ts';

/** `from` is the index before, `to` the index after; one of them is absent where the other has no pair. */
export type ListPair = { readonly from?: number; readonly to?: number };

/** Members that identify a table in a catalog: the first that both have. */
const NAMES = ['id', 'slug', 'valid_from', 'upstream'];

/** Larger differences are paired in their order: the table below has a cell for each two elements. */
const CELLS_MAX = 250_000;

/** The pairs in the order of the result. Equal elements stay together, then those with one name. */
export function aligned(before: readonly unknown[], after: readonly unknown[]): ListPair[] {
  const isSame = (from: number, to: number): boolean =>
    Bun.deepEquals(before[from], after[to]) || haveOneName(before[from], after[to]);
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && isSame(head, head)) head += 1;
  let tail = 0;
  while (tail < shorter - head && isSame(before.length - 1 - tail, after.length - 1 - tail)) {
    tail += 1;
  }
  const rows = before.length - head - tail;
  const columns = after.length - head - tail;
  const same = rows * columns > CELLS_MAX ? [] : longest(rows, columns, head, isSame);
  const ends = { from: head + rows, to: head + columns };
  return [
    ...steps(head).map((at) => ({ from: at, to: at })),
    ...filled([...same, ends], head).slice(0, -1),
    ...steps(tail).map((at) => ({ from: ends.from + at, to: ends.to + at })),
  ];
}

type Match = { readonly from: number; readonly to: number };

/** The longest common subsequence of the parts that differ. */
function longest(
  rows: number,
  columns: number,
  head: number,
  isSame: (from: number, to: number) => boolean,
): Match[] {
  const lengths = steps(rows + 1).map(() => new Uint32Array(columns + 1));
  const length = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      const best = isSame(head + row, head + column)
        ? length(row + 1, column + 1) + 1
        : Math.max(length(row + 1, column), length(row, column + 1));
      lengths[row]?.fill(best, column, column + 1);
    }
  }
  const matches: Match[] = [];
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (isSame(head + row, head + column)) {
      matches.push({ from: head + row, to: head + column });
      row += 1;
      column += 1;
    } else if (length(row + 1, column) >= length(row, column + 1)) row += 1;
    else column += 1;
  }
  return matches;
}

/** The matches with everything between them: in pairs first, then what is left of one side. */
function filled(matches: readonly Match[], head: number): ListPair[] {
  let from = head;
  let to = head;
  return matches.flatMap((match) => {
    const pairs: ListPair[] = [];
    while (from < match.from || to < match.to) {
      pairs.push({
        ...(from < match.from && { from: from++ }),
        ...(to < match.to && { to: to++ }),
      });
    }
    from = match.from + 1;
    to = match.to + 1;
    return [...pairs, match];
  });
}

function haveOneName(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return false;
  const name = NAMES.find((each) => Object.hasOwn(one, each) && Object.hasOwn(other, each));
  return name !== undefined && one[name] === other[name];
}

function steps(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}
