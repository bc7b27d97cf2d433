// What differs between texts, line by line: the changed lines with the lines around them, and two
// changes of one text made together.

export type DifferenceLine = {
  readonly kind: 'same' | 'removed' | 'added' | 'gap';
  /** The line's number in the text that has it, from 1 on; 0 for a gap. */
  readonly line: number;
  readonly text: string;
};

const AROUND = 3;

/** Larger changes are shown as a whole: the table below has a cell for each two lines. */
const CELLS_MAX = 1_000_000;

/** Empty for equal texts. Lines that are left out between changes are one gap. */
export function textDifference(before: string, after: string): DifferenceLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const line = (kind: DifferenceLine['kind'], at: number, text = ''): DifferenceLine => {
    return { kind, line: at + 1, text };
  };
  const lines: DifferenceLine[] = [];
  let [from, to] = [0, 0];
  for (const [one, other] of [...matches(old, now), [old.length, now.length] as const]) {
    for (; from < one; from += 1) lines.push(line('removed', from, old[from]));
    for (; to < other; to += 1) lines.push(line('added', to, now[to]));
    if (one < old.length) lines.push(line('same', other, now[other]));
    [from, to] = [one + 1, other + 1];
  }
  const shown = new Set(
    lines.flatMap(({ kind }, at) =>
      kind === 'same' ? [] : Array.from({ length: 2 * AROUND + 1 }, (_, of) => at + of - AROUND),
    ),
  );
  if (shown.size === 0) return [];
  return lines.flatMap((each, at) => {
    if (shown.has(at)) return [each];
    return at === 0 || shown.has(at - 1) ? [{ kind: 'gap', line: 0, text: '' }] : [];
  });
}

/**
 * A text with the changes of two others. Lines that both changed are marked as Git marks them, which
 * is not TOML.
 */
export function mergedText(base: string, theirs: string, ours: string): string {
  const [old, their, our] = [base.split('\n'), theirs.split('\n'), ours.split('\n')];
  const [inTheirs, inOurs] = [new Map(matches(old, their)), new Map(matches(old, our))];
  const merged: string[] = [];
  let [at, one, other] = [0, 0, 0];
  for (let next = 0; next <= old.length; next += 1) {
    const isEnd = next === old.length;
    const toTheirs = isEnd ? their.length : inTheirs.get(next);
    const toOurs = isEnd ? our.length : inOurs.get(next);
    if (toTheirs === undefined || toOurs === undefined) continue;
    const was = old.slice(at, next);
    const now = their.slice(one, toTheirs);
    const own = our.slice(other, toOurs);
    merged.push(...mergedLines(was, now, own));
    if (!isEnd) merged.push(old[next] ?? '');
    [at, one, other] = [next + 1, toTheirs + 1, toOurs + 1];
  }
  return merged.join('\n');
}

function mergedLines(was: readonly string[], now: readonly string[], own: readonly string[]) {
  if (Bun.deepEquals(was, now) || Bun.deepEquals(now, own)) return own;
  if (Bun.deepEquals(was, own)) return now;
  if (was.length > 1 && now.length === was.length && own.length === was.length) {
    // Neighbouring lines, of which each side may have changed others.
    return was.flatMap((line, at): readonly string[] =>
      mergedLines([line], [now[at] ?? ''], [own[at] ?? '']),
    );
  }
  return ['<<<<<<< file', ...now, '=======', ...own, '>>>>>>> draft'];
}

/** The indexes of the lines that stay, before and after: a longest common subsequence. */
function matches(before: readonly string[], after: readonly string[]): [number, number][] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const rows = before.length - head - tail;
  const columns = after.length - head - tail;
  const pairs = Array.from({ length: head }, (_, at): [number, number] => [at, at]);
  if (rows * columns <= CELLS_MAX) {
    const width = columns + 1;
    const lengths = new Uint32Array((rows + 1) * width);
    const length = (row: number, column: number) => lengths[row * width + column] ?? 0;
    const isSame = (row: number, column: number) => before[head + row] === after[head + column];
    for (let row = rows - 1; row >= 0; row -= 1) {
      for (let column = columns - 1; column >= 0; column -= 1) {
        lengths[row * width + column] = isSame(row, column)
          ? length(row + 1, column + 1) + 1
          : Math.max(length(row + 1, column), length(row, column + 1));
      }
    }
    for (let row = 0, column = 0; row < rows && column < columns; ) {
      if (isSame(row, column)) {
        pairs.push([head + row, head + column]);
        row += 1;
        column += 1;
      } else if (length(row + 1, column) >= length(row, column + 1)) row += 1;
      else column += 1;
    }
  }
  for (let at = tail; at > 0; at -= 1) pairs.push([before.length - at, after.length - at]);
  return pairs;
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
