// The data of a chart, shared by the chart, its table and its drawing.

import { formatInstant } from './format.ts';

export type Series = {
  readonly label: string;
  /** One value per instant; null if missing. */
  readonly values: readonly (number | null)[];
  /** Marks values that signal a problem; the colours of other series only distinguish them. */
  readonly tone?: 'danger' | 'warning' | 'muted';
};

export type ChartProps = {
  /** The heading of the chart: `"Requests per day"`. */
  readonly title: string;
  /** ISO instants, ascending. */
  readonly times: readonly string[];
  readonly series: readonly Series[];
  /** `bars` for sums over a period, stacked by series; `line` for values measured at an instant. */
  readonly kind?: 'bars' | 'line';
  /** Formats a value in full, and on the axis. */
  readonly format?: (value: number) => string;
  readonly formatAxis?: (value: number) => string;
  /** `day` if each point is a day in UTC, as in the ledger; otherwise the viewer's time zone. */
  readonly step?: 'day' | 'hour' | 'minute';
};

/** A day of the ledger is a UTC day in every time zone. */
export function pointName(iso: string, step: ChartProps['step']): string {
  if (step !== 'day') return formatInstant(iso);
  return new Date(iso).toLocaleDateString('en-GB', {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
}

/** The shortest axis label that distinguishes a point from its neighbours. */
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
