// A chart over time, with the same numbers as a table for whoever wants or needs that. The drawing
// itself is a file of its own that is loaded with the first chart.

import { useEffect, useRef, useState } from 'preact/hooks';
import { type ChartProps, pointName } from './chart-data.ts';
import { formatCompact, formatCount } from './format.ts';
import { Skeleton } from './parts.tsx';
import { Table } from './table.tsx';
import { Segments } from './tabs.tsx';

export function Chart(props: ChartProps) {
  const [view, setView] = useState<'chart' | 'table'>('chart');
  const { title, times, series } = props;
  return (
    <figure class="chart">
      <div class="row apart">
        <div class="keys">
          {series.length > 1 &&
            series.map(({ label }, index) => (
              <span class="key" key={label}>
                <Swatch index={index} />
                {label}
              </span>
            ))}
        </div>
        <Segments
          label={`How to show ${title}`}
          choices={[
            { id: 'chart', label: 'Chart' },
            { id: 'table', label: 'Table' },
          ]}
          active={view}
          onChange={setView}
        />
      </div>
      {view === 'chart' ? <Canvas {...props} /> : <ChartTable {...props} />}
      <figcaption class="sr-only">
        {title}, {times.length} points. The view as a table has every value.
      </figcaption>
    </figure>
  );
}

function Swatch({ index }: { readonly index: number }) {
  return (
    <svg viewBox="0 0 12 12" aria-hidden="true">
      <rect width="12" height="12" rx="3" fill={`var(--chart-${(index % 6) + 1})`} />
    </svg>
  );
}

function Canvas(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [ready, setReady] = useState(false);
  const key = JSON.stringify([props.times, props.series, props.kind, props.step]);
  useEffect(() => {
    let stop: (() => void) | undefined;
    let left = false;
    void import('./chart-canvas.ts').then(({ drawChart }) => {
      if (left || place.current === null) return;
      setReady(true);
      stop = drawChart(place.current, {
        ...props,
        format: props.format ?? formatCount,
        formatAxis: props.formatAxis ?? formatCompact,
      });
    });
    return () => {
      left = true;
      stop?.();
    };
  }, [key]);
  return (
    <>
      {!ready && <Skeleton lines={5} />}
      <div class="canvas" role="img" aria-label={summary(props)} ref={place} hidden={!ready} />
    </>
  );
}

/** A chart in one sentence: what screen readers say of it. */
function summary({ title, series, format = formatCount }: ChartProps): string {
  const parts = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${label}: no values`;
    const highest = known.reduce((a, b) => Math.max(a, b));
    return `${label}: highest ${format(highest)}, last ${format(known.at(-1) ?? 0)}`;
  });
  return `${title}. ${parts.join('. ')}`;
}

function ChartTable({ title, times, series, step, format = formatCount }: ChartProps) {
  return (
    <Table
      caption={title}
      rows={times.map((_, index) => times.length - 1 - index)}
      rowKey={(index) => String(index)}
      columns={[
        {
          label: step === 'day' ? 'Day (UTC)' : 'Time',
          show: (index: number) => pointName(times[index] ?? '', step),
        },
        ...series.map(({ label, values }) => ({
          label,
          end: true,
          show: (index: number) => {
            const value = values[index] ?? null;
            return value === null ? '–' : format(value);
          },
        })),
      ]}
    />
  );
}
