// Finds the name that was probably meant. Used only for messages about misspelled settings.

/**
 * The closest of `names` to `text`, or `undefined` if none is close. A name of six or more letters
 * may differ by two edits, a shorter one by one; otherwise HOME would match HOST.
 */
export function nearest(text: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(text, name);
    if (distance > (name.length < 6 ? 1 : 2) || distance >= bestDistance) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

/** The number of insertions, deletions, substitutions and swaps of neighbours between two texts. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
