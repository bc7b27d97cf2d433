// What a chart shows, as the chart, its table and its drawing all take it.

import { formatInstant } from './format.ts';

export type Series = {
  readonly label: string;
  /** One value for each instant; null where there is none. */
  readonly values: readonly (number | null)[];
  /** For what is not as it should be; other series get colours that only tell them apart. */
  readonly tone?: 'danger' | 'warning' | 'muted';
};

export type ChartProps = {
  /** What is drawn, as a heading would say it: `"Requests a day"`. */
  readonly title: string;
  /** ISO instants, ascending. */
  readonly times: readonly string[];
  readonly series: readonly Series[];
  /**
   * `bars` for sums over a span of time, several series on top of each other; `line` for what is
   * measured at an instant.
   */
  readonly kind?: 'bars' | 'line';
  /** How a value is written in full, and on the axis. */
  readonly format?: (value: number) => string;
  readonly formatAxis?: (value: number) => string;
  /** `day` where each point is a day (in UTC, as the books are kept), else the viewer's time. */
  readonly step?: 'day' | 'hour' | 'minute';
};

/** A day of the books is a day in UTC, wherever the viewer is. */
export function pointName(iso: string, step: ChartProps['step']): string {
  if (step !== 'day') return formatInstant(iso);
  return new Date(iso).toLocaleDateString('en-GB', {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
}

/** A point on the axis, in as few characters as tell it from its neighbours. */
export function pointLabel(
  times: readonly string[],
  index: number,
  step: ChartProps['step'],
): string {
  const at = new Date(times[index] ?? '');
  const day = { day: 'numeric', month: 'short' } as const;
  if (step === 'day') return at.toLocaleDateString('en-GB', { ...day, timeZone: 'UTC' });
  const span = Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '');
  return span > 2 * 86_400_000
    ? at.toLocaleDateString('en-GB', day)
    : at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
