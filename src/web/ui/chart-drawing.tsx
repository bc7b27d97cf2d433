// Draws a chart as SVG with colours from CSS, so it follows light, dark and forced colours. Pointer
// and arrow keys read the values of a point; a click or Enter opens what is behind it.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { t } from '../text/t.ts';
import type { ChartProps, Series } from './chart-data.ts';
import { Axes, Bars, Before, Lines, NoData, type Plot } from './chart-marks.tsx';
import { Reading } from './chart-reading.tsx';
import { alignDecimals, extremes, type Scale, stackedBars, valueScale } from './chart-scale.ts';
import { formatCompact, formatCount } from './format.ts';
import { Link } from './link.tsx';

const HEIGHT_DEFAULT = 232;
const TOP = 20;
const BOTTOM = 24;
/** The width of the widest character on the value axis. */
const CHARACTER_WIDTH = 7.5;

/** A point that is being read, and the series under the pointer. */
type Read = { readonly index: number; readonly nth: number | undefined };

export function ChartDrawing({
  chart,
  colours,
}: {
  /** With the series that are shown. */
  readonly chart: ChartProps;
  readonly colours: (series: Series) => string;
}) {
  const { title, unit, times, series, kind = 'bars', step, before, href } = chart;
  const { height = HEIGHT_DEFAULT } = chart;
  const place = useRef<HTMLElement>(null);
  const width = useWidth(place);
  const [read, setRead] = useState<Read | undefined>(undefined);
  const [, navigate] = useLocation();
  const scale = scaleOf(chart);
  const marks = alignDecimals(scale.ticks.map(chart.formatAxis ?? formatCompact));
  const plot = plotOf(scale, marks, times.length, { width, height });
  const hasValues = series.some(({ values }) => values.some((value) => value));
  const target = read && href?.(read.index, read.nth);

  const at = ({ clientX, clientY }: PointerEvent) => {
    const box = place.current?.getBoundingClientRect();
    const index = Math.floor((clientX - (box?.left ?? 0) - plot.start) / plot.band);
    if (index < 0 || index >= times.length) return setRead(undefined);
    const y = clientY - (box?.top ?? 0);
    setRead({ index, nth: kind === 'bars' ? barAt(series, plot, index, y) : undefined });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setRead(undefined);
    if (event.key === 'Enter' && target !== undefined) navigate(target);
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const from = read?.index ?? (by > 0 ? -1 : times.length);
    setRead({ index: Math.min(Math.max(from + by, 0), times.length - 1), nth: undefined });
  };
  return (
    <section
      class="drawing"
      ref={place}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys read its points.
      tabIndex={0}
      aria-label={summary(chart)}
      onKeyDown={press}
      onBlur={() => setRead(undefined)}
      onPointerMove={at}
      onPointerDown={at}
      onPointerLeave={() => setRead(undefined)}
    >
      <svg class="plot" width={width} height={height} aria-hidden="true">
        {read !== undefined && (
          <rect
            class="cursor"
            x={plot.x(read.index) - plot.band / 2}
            y={TOP}
            width={plot.band}
            height={height - TOP - BOTTOM}
          />
        )}
        <Axes plot={plot} scale={scale} marks={marks} unit={unit} times={times} step={step} />
        {!hasValues && <NoData plot={plot} />}
        {kind === 'bars' ? (
          <Bars plot={plot} series={series} colours={colours} />
        ) : (
          <Lines plot={plot} series={series} colours={colours} />
        )}
        {before && <Before plot={plot} values={before} kind={kind} />}
      </svg>
      {read !== undefined && target !== undefined && (
        // For the pointer; the keyboard has Enter.
        <Link
          class="hit"
          href={target}
          tabIndex={-1}
          aria-hidden="true"
          style={bandPlace(plot, read)}
        />
      )}
      <div
        class="reading"
        role="status"
        hidden={read === undefined}
        style={read && readingPlace(plot, read)}
      >
        {read !== undefined && (
          <Reading chart={chart} index={read.index} colours={colours} current={read.nth}>
            {target !== undefined && (
              <div class="soft small">{t('Click or press Enter to open')}</div>
            )}
          </Reading>
        )}
      </div>
      <p class="sr-only">
        {href === undefined
          ? t('{title}: use the arrow keys to read its points.', { title })
          : t('{title}: use the arrow keys to read its points, and Enter to open one.', { title })}
      </p>
    </section>
  );
}

function scaleOf({ series, kind = 'bars', before = [] }: ChartProps): Scale {
  const values = series.map((one) => one.values);
  const [least, most] = extremes(values, kind === 'bars');
  const past = before.map((value) => value ?? 0);
  const isWhole = values.every((all) => all.every((value) => Number.isInteger(value ?? 0)));
  return valueScale(Math.min(least, ...past), Math.max(most, ...past), isWhole);
}

function plotOf(
  scale: Scale,
  marks: readonly string[],
  points: number,
  { width, height }: Pick<Plot, 'width' | 'height'>,
): Plot {
  const start = Math.max(...marks.map(({ length }) => length)) * CHARACTER_WIDTH + 12;
  const band = Math.max(1, width - start) / Math.max(1, points);
  const reach = scale.high - scale.low;
  return {
    band,
    start,
    width,
    height,
    x: (index) => start + (index + 0.5) * band,
    y: (value) => TOP + ((scale.high - value) / reach) * (height - TOP - BOTTOM),
  };
}

/** The series whose bar is at a height; undefined beside the bars. */
function barAt(
  series: readonly Series[],
  { y }: Plot,
  index: number,
  height: number,
): number | undefined {
  const bars = stackedBars(series.map(({ values }) => values));
  const nth = bars.findIndex(({ [index]: bar }) => {
    if (bar === undefined) return false;
    const [a, b] = [y(bar.from), y(bar.to)];
    return height >= Math.min(a, b) && height <= Math.max(a, b);
  });
  return nth < 0 ? undefined : nth;
}

function bandPlace({ x, band }: Plot, { index }: Read) {
  return { left: `${x(index) - band / 2}px`, width: `${band}px`, top: `${TOP}px` };
}

/** Placed on the side of the point with more room. */
function readingPlace({ x, band, width }: Plot, { index }: Read) {
  const at = x(index);
  return at > width / 2
    ? { right: `${width - at + band / 2 + 8}px`, left: 'auto' }
    : { left: `${at + band / 2 + 8}px`, right: 'auto' };
}

/** A one-sentence summary for screen readers. */
function summary({ title, series, format = formatCount }: ChartProps): string {
  const parts = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return t('{label}: no values', { label });
    const most = known.reduce((a, b) => Math.max(a, b));
    return t('{label}: highest {most}, last {at}', {
      label,
      most: format(most),
      at: format(known.at(-1) ?? 0),
    });
  });
  return `${title}. ${parts.join('. ')}`;
}

function useWidth(place: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  // Measured before the first paint: another width would make a phone's page wider for a moment.
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return width;
}
