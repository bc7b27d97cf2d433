// Computes the positions of points and axis marks. Pure.

import { POINT } from './format.ts';

/** The values at the bottom and the top of a chart, and its round marks between them. */
export type Scale = {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
};

/** The part of the height that stays free beyond the outermost values. */
const MARGIN = 0.04;

/** The part of the height that may lie beyond the outermost mark of the larger side. */
const UNMARKED = 0.25;

/**
 * Covers all values and zero, with round marks, whole numbers for `whole` values: as few as reach
 * near the largest value, and at least four. The top is just above that value and need not be a
 * mark.
 */
export function valueScale(least: number, most: number, whole = false): Scale {
  const [bottom, top] = [Math.min(0, least), Math.max(0, most)];
  const reach = top - bottom;
  if (!(reach > 0)) return { low: 0, high: 1, ticks: [0] };
  const far = Math.max(-bottom, top);
  const power = 10 ** Math.floor(Math.log10(reach));
  const step =
    [2, 1, 0.5, 0.2, 0.1]
      .map((factor) => factor * power)
      .filter((one) => !whole || Number.isInteger(one))
      .find((one) => one <= reach / 3 && far % one <= reach * UNMARKED) ?? power;
  const [first, last] = [Math.ceil(bottom / step), Math.floor(top / step)];
  // Multiplies each time, because adding would accumulate float errors.
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return {
    low: bottom === 0 ? 0 : bottom - reach * MARGIN,
    high: top === 0 ? 0 : top + reach * MARGIN,
    ticks,
  };
}

/** Gives all marks the same number of decimals, so that they align. */
export function alignDecimals(marks: readonly string[], point = POINT): readonly string[] {
  const shape = new RegExp(`^(\\D*\\d+(?:[^\\d${point}]\\d+)*)(?:[${point}](\\d+))?(\\D*)$`);
  const parts = marks.map((mark) => shape.exec(mark));
  const most = Math.max(...parts.map((part) => part?.[2]?.length ?? 0));
  if (most === 0 || parts.includes(null)) return marks;
  return parts.map((part) => {
    const [, whole = '', fraction = '', unit = ''] = part ?? [];
    return `${whole}${point}${fraction.padEnd(most, '0')}${unit}`;
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

type Values = readonly (number | null)[];

/** The values whose neighbours are missing, so that no line leads to them. */
export function lonePoints(values: Values): Values {
  return values.map((value, index) =>
    (values[index - 1] ?? values[index + 1] ?? null) === null ? value : null,
  );
}

/** A bar of one value: positive ones are stacked upward from zero, negative ones downward. */
export type Bar = { readonly from: number; readonly to: number };

/** The bars of each series; undefined where there is nothing to draw. */
export function stackedBars(series: readonly Values[]): readonly (readonly (Bar | undefined)[])[] {
  const up: number[] = [];
  const down: number[] = [];
  return series.map((values) =>
    values.map((value, index) => {
      if (!value) return undefined;
      const sums = value > 0 ? up : down;
      const from = sums[index] ?? 0;
      sums[index] = from + value;
      return { from, to: from + value };
    }),
  );
}

/** The least and the largest value that a chart has to show; of bars, of their stacks. */
export function extremes(series: readonly Values[], stacked: boolean): readonly [number, number] {
  let [least, most] = [0, 0];
  const look = (value: number) => {
    if (value < least) least = value;
    if (value > most) most = value;
  };
  if (stacked) for (const bars of stackedBars(series)) for (const bar of bars) look(bar?.to ?? 0);
  else for (const values of series) for (const value of values) look(value ?? 0);
  return [least, most];
}
