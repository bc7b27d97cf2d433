// The marks of a chart: its axis, bars, lines, and the outline of the period before.

import { t } from '../text/t.ts';
import { type ChartProps, pointLabel, type Series, seriesColour } from './chart-data.ts';
import { labelledPoints, lonePoints, type Scale, stackedBars } from './chart-scale.ts';

/** Where values and points are, in pixels. */
export type Plot = {
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  /** The width of one point. */
  readonly band: number;
  /** The left end of the marks, and the size of the whole drawing. */
  readonly start: number;
  readonly width: number;
  readonly height: number;
};

const LABEL_WIDTH = 84;

export function Axes({
  plot,
  scale,
  marks,
  unit,
  times,
  step,
}: Pick<ChartProps, 'unit' | 'times' | 'step'> & {
  readonly plot: Plot;
  readonly scale: Scale;
  /** The texts of the scale's ticks. */
  readonly marks: readonly string[];
}) {
  const { start, width, height } = plot;
  const isLate = (index: number) => plot.x(index) > width - LABEL_WIDTH / 2;
  return (
    <>
      <text class="unit" x={0} y={10}>
        {unit}
      </text>
      {scale.ticks.map((tick, nth) => (
        <g key={tick}>
          <line
            class={tick === 0 ? 'rule zero' : 'rule'}
            x1={start}
            x2={width}
            y1={plot.y(tick)}
            y2={plot.y(tick)}
          />
          <text class="end" x={start - 8} y={plot.y(tick) + 4}>
            {marks[nth]}
          </text>
        </g>
      ))}
      {labelledPoints(times.length, width - start, LABEL_WIDTH).map((index) => (
        <text
          key={index}
          class={isLate(index) ? 'end' : 'middle'}
          x={isLate(index) ? width - 1 : plot.x(index)}
          y={height - 6}
        >
          {pointLabel(times, index, step)}
        </text>
      ))}
    </>
  );
}

type MarksProps = { readonly plot: Plot; readonly series: readonly Series[] };

/** One path per series: a bar per point, stacked on the series before. */
export function Bars({ plot, series, colours }: MarksProps & { readonly colours: Colours }) {
  const { x, y } = plot;
  const wide = barWidth(plot);
  return stackedBars(series.map(({ values }) => values)).map((bars, nth) => {
    const one = series[nth] as Series;
    const path = bars.map((bar, index) => {
      if (bar === undefined) return '';
      const height = y(bar.to) - y(bar.from);
      // A nonzero value always stays visible.
      const tall = Math.sign(height) * Math.max(1, Math.abs(height));
      return `M${round(x(index) - wide / 2)} ${round(y(bar.from))}v${round(tall)}h${round(wide)}v${round(-tall)}z`;
    });
    return <path key={one.label} d={path.join('')} fill={colours(one)} />;
  });
}

/** A line through the points with a value, and a dot for each point without a neighbour. */
export function Lines({ plot, series, colours }: MarksProps & { readonly colours: Colours }) {
  return series.map((one) => (
    <g key={one.label} class="line" stroke={colours(one)}>
      <path d={linePath(plot, one.values)} />
      <path class="dots" d={linePath(plot, lonePoints(one.values))} />
    </g>
  ));
}

type Colours = (series: Series) => string;

/** The colour of each series, whichever of them are shown. */
export function coloursOf(all: readonly Series[]): Colours {
  return (one) => seriesColour(one, all.indexOf(one));
}

/** Bars as dashed outlines, lines as dashed lines. */
export function Before({
  plot,
  values,
  kind,
}: {
  readonly plot: Plot;
  readonly values: readonly (number | null)[];
  readonly kind: 'bars' | 'line';
}) {
  const { x, y } = plot;
  const wide = barWidth(plot) + 2;
  const outlines = () =>
    values.map((value, index) =>
      value
        ? `M${round(x(index) - wide / 2)} ${round(y(0))}V${round(y(value))}h${round(wide)}V${round(y(0))}`
        : '',
    );
  return <path class="before" d={kind === 'bars' ? outlines().join('') : linePath(plot, values)} />;
}

export function NoData({ plot: { start, width, height } }: { readonly plot: Plot }) {
  return (
    <text class="middle" x={(start + width) / 2} y={height / 2}>
      {t('No data in this period')}
    </text>
  );
}

function barWidth({ band }: Plot): number {
  return Math.min(40, Math.max(1, band * 0.72));
}

function linePath({ x, y }: Plot, values: readonly (number | null)[]): string {
  let drawing = false;
  const points = values.map((value, index) => {
    const joined = drawing;
    drawing = value !== null;
    if (value === null) return '';
    return `${joined ? 'L' : 'M'}${round(x(index))} ${round(y(value))}${joined ? '' : 'h0.01'}`;
  });
  return points.join('');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
