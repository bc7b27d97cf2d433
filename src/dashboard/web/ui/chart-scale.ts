// Computes the positions of points and axis marks. Pure.

/** Round marks from zero to at least `most`, about `count` of them. The last one is the top. */
export function valueTicks(most: number, count: number): readonly number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough) ?? 10;
  const step = factor * power;
  const ticks = [0];
  // Multiplies each time, because adding would accumulate float errors.
  while ((ticks.at(-1) ?? 0) < most) ticks.push(ticks.length * step);
  return ticks;
}

/** Gives all marks the same number of decimals, so that they align. */
export function alignDecimals(marks: readonly string[]): readonly string[] {
  const parts = marks.map((mark) => /^(\D*[\d,]+)(?:\.(\d+))?(\D*)$/.exec(mark));
  const most = Math.max(...parts.map((part) => part?.[2]?.length ?? 0));
  if (most === 0 || parts.includes(null)) return marks;
  return parts.map((part) => {
    const [, whole = '', fraction = '', unit = ''] = part ?? [];
    return `${whole}.${fraction.padEnd(most, '0')}${unit}`;
  });
}

/** The points that get a label of `labelWidth` within `width`: evenly spaced, including the last. */
export function labelledPoints(
  points: number,
  width: number,
  labelWidth: number,
): readonly number[] {
  const most = Math.max(1, Math.floor(width / labelWidth));
  const every = Math.ceil(points / most);
  const labelled: number[] = [];
  for (let index = points - 1; index >= 0; index -= every) labelled.push(index);
  return labelled.reverse();
}

/** The largest stacked sum for bars, the largest value for lines. */
export function largest(
  series: readonly { readonly values: readonly (number | null)[] }[],
  stacked: boolean,
): number {
  const length = Math.max(0, ...series.map(({ values }) => values.length));
  let most = 0;
  for (let index = 0; index < length; index += 1) {
    let sum = 0;
    for (const { values } of series) {
      const value = values[index] ?? 0;
      sum += value;
      if (!stacked && value > most) most = value;
    }
    if (stacked && sum > most) most = sum;
  }
  return most;
}
