// The lines that differ between two texts, with the lines around them.

import { aligned } from './toml-align.ts';

export type DifferenceLine = {
  readonly kind: 'same' | 'removed' | 'added' | 'gap';
  /** The line's number in the text that has it, from 1 on; 0 for a gap. */
  readonly line: number;
  readonly text: string;
};

const AROUND = 3;

/** Empty for equal texts. Lines that are left out between changes are one gap. */
export function textDifference(before: string, after: string): DifferenceLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const lines: DifferenceLine[] = [];
  let added: DifferenceLine[] = [];
  for (const { from, to } of aligned(old, now)) {
    const isSame = from !== undefined && to !== undefined && old[from] === now[to];
    if (isSame) {
      lines.push(...added, { kind: 'same', line: to + 1, text: now[to] ?? '' });
      added = [];
      continue;
    }
    if (from !== undefined) lines.push({ kind: 'removed', line: from + 1, text: old[from] ?? '' });
    if (to !== undefined) added.push({ kind: 'added', line: to + 1, text: now[to] ?? '' });
  }
  return shortened([...lines, ...added]);
}

function shortened(lines: readonly DifferenceLine[]): DifferenceLine[] {
  const changed = lines.flatMap(({ kind }, at) => (kind === 'same' ? [] : [at]));
  let next = 0;
  let isGap = false;
  return lines.flatMap((line, at) => {
    while (next < changed.length && (changed[next] ?? 0) + AROUND < at) next += 1;
    const nearest = changed[next];
    if (nearest !== undefined && nearest - AROUND <= at) {
      isGap = false;
      return [line];
    }
    if (isGap || changed.length === 0) return [];
    isGap = true;
    return [{ kind: 'gap', line: 0, text: '' } as const];
  });
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
