// Draws a chart as SVG with colours from CSS, so it follows light, dark and forced colours. Pointer
// and arrow keys read the values of a point.

import { useEffect, useRef, useState } from 'preact/hooks';
import { type ChartProps, pointLabel, pointName, type Series } from './chart-data.ts';
import { alignDecimals, labelledPoints, largest, valueTicks } from './chart-scale.ts';
import { formatCompact, formatCount } from './format.ts';

const HEIGHT = 220;
const TOP = 8;
const BOTTOM = 24;
/** The width of the widest character on the value axis. */
const CHARACTER_WIDTH = 7.5;
const LABEL_WIDTH = 84;

type Plot = {
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  /** The width of one point. */
  readonly band: number;
};

export function ChartDrawing(props: ChartProps) {
  const { title, times, series, kind = 'bars', step, format = formatCount } = props;
  const { formatAxis = formatCompact } = props;
  const place = useRef<HTMLElement>(null);
  const width = useWidth(place);
  const [read, setRead] = useState<number | undefined>(undefined);
  const most = largest(series, kind === 'bars');
  const ticks = valueTicks(most, 4);
  const top = ticks.at(-1) ?? 1;
  const marks = alignDecimals(ticks.map(formatAxis));
  const start = Math.max(...marks.map(({ length }) => length)) * CHARACTER_WIDTH + 12;
  const band = Math.max(1, width - start) / Math.max(1, times.length);
  const plot: Plot = {
    band,
    x: (index) => start + (index + 0.5) * band,
    y: (value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM),
  };
  const at = (clientX: number) => {
    const left = place.current?.getBoundingClientRect().left ?? 0;
    const index = Math.floor((clientX - left - start) / band);
    setRead(index >= 0 && index < times.length ? index : undefined);
  };
  const move = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const from = read ?? (by > 0 ? -1 : times.length);
    setRead(Math.min(Math.max(from + by, 0), times.length - 1));
  };
  return (
    <section
      class="drawing"
      ref={place}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys read its points.
      tabIndex={0}
      aria-label={summary(props)}
      onKeyDown={move}
      onBlur={() => setRead(undefined)}
      onPointerMove={(event) => at(event.clientX)}
      onPointerDown={(event) => at(event.clientX)}
      onPointerLeave={() => setRead(undefined)}
    >
      <svg class="plot" width={width} height={HEIGHT} aria-hidden="true">
        {ticks.map((tick, nth) => (
          <g key={tick}>
            <line class="rule" x1={start} x2={width} y1={plot.y(tick)} y2={plot.y(tick)} />
            <text class="end" x={start - 8} y={plot.y(tick) + 4}>
              {marks[nth]}
            </text>
          </g>
        ))}
        {labelledPoints(times.length, width - start, LABEL_WIDTH).map((index) => (
          <text
            key={index}
            class={plot.x(index) > width - LABEL_WIDTH / 2 ? 'end' : 'middle'}
            x={plot.x(index) > width - LABEL_WIDTH / 2 ? width - 1 : plot.x(index)}
            y={HEIGHT - 6}
          >
            {pointLabel(times, index, step)}
          </text>
        ))}
        {most === 0 && (
          <text class="middle" x={(start + width) / 2} y={HEIGHT / 2}>
            No data in this period
          </text>
        )}
        {read !== undefined && (
          <rect
            class="cursor"
            x={plot.x(read) - band / 2}
            y={TOP}
            width={band}
            height={HEIGHT - TOP - BOTTOM}
          />
        )}
        {kind === 'bars' ? (
          <Bars plot={plot} series={series} />
        ) : (
          <Lines plot={plot} series={series} />
        )}
      </svg>
      <div
        class="reading"
        role="status"
        hidden={read === undefined}
        style={readingPlace(plot, read, width)}
      >
        {read !== undefined && (
          <>
            <div class="soft">{pointName(times[read] ?? '', step)}</div>
            {series.map(({ label, values }) => (
              <div key={label}>
                {label}: <strong>{shown(values[read], format)}</strong>
              </div>
            ))}
          </>
        )}
      </div>
      <p class="sr-only">{title}: use the arrow keys to read its points.</p>
    </section>
  );
}

type PartProps = { readonly plot: Plot; readonly series: ChartProps['series'] };

/** One path per series: a bar per point, stacked on the series before. */
function Bars({ plot, series }: PartProps) {
  const { x, y, band } = plot;
  const wide = Math.min(40, Math.max(1, band * 0.72));
  const sums: number[] = [];
  return series.map(({ label, values, tone }, nth) => {
    const bars = values.map((value, index) => {
      const below = sums[index] ?? 0;
      sums[index] = below + (value ?? 0);
      if (!value) return '';
      const bottom = y(below);
      // A nonzero value always stays visible.
      const tall = Math.max(1, bottom - y(below + value));
      return `M${round(x(index) - wide / 2)} ${round(bottom)}v${round(-tall)}h${round(wide)}v${round(tall)}z`;
    });
    return <path key={label} d={bars.join('')} fill={colour(nth, tone)} />;
  });
}

/** A line through the points with a value; an isolated point is a dot. */
function Lines({ plot, series }: PartProps) {
  return series.map(({ label, values, tone }, nth) => {
    let drawing = false;
    const points = values.map((value, index) => {
      const joined = drawing;
      drawing = value !== null;
      if (value === null) return '';
      return `${joined ? 'L' : 'M'}${round(plot.x(index))} ${round(plot.y(value))}${joined ? '' : 'h0.01'}`;
    });
    return <path key={label} class="line" d={points.join('')} stroke={colour(nth, tone)} />;
  });
}

/** The colour of the nth series, or of its meaning. */
export function colour(nth: number, tone: Series['tone']): string {
  return tone === undefined ? `var(--chart-${(nth % 6) + 1})` : TONES[tone];
}

const TONES: Readonly<Record<NonNullable<Series['tone']>, string>> = {
  danger: 'var(--danger)',
  warning: 'var(--chart-2)',
  muted: 'var(--chart-6)',
};

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function shown(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

/** Placed on the side of the point with more room. */
function readingPlace(plot: Plot, read: number | undefined, width: number) {
  const x = read === undefined ? 0 : plot.x(read);
  return x > width / 2
    ? { right: `${width - x + plot.band / 2 + 8}px`, left: 'auto' }
    : { left: `${x + plot.band / 2 + 8}px`, right: 'auto' };
}

/** A one-sentence summary for screen readers. */
function summary({ title, series, format = formatCount }: ChartProps): string {
  const parts = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${label}: no values`;
    const most = known.reduce((a, b) => Math.max(a, b));
    return `${label}: highest ${format(most)}, last ${format(known.at(-1) ?? 0)}`;
  });
  return `${title}. ${parts.join('. ')}`;
}

function useWidth(place: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return width;
}
