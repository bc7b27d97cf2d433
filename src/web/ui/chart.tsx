// A chart over time, with a legend that hides series, and the same numbers as a table.

import { useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { Button } from './button.tsx';
import { type ChartProps, pointName, type Series, shown, totalAt } from './chart-data.ts';
import { ChartDrawing } from './chart-drawing.tsx';
import { coloursOf } from './chart-marks.tsx';
import { Swatch } from './chart-reading.tsx';
import { formatCount } from './format.ts';
import { Table } from './table.tsx';

export function Chart(props: ChartProps) {
  const [table, setTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const { title, series, before, href } = props;
  const colours = coloursOf(series);
  const left = series.filter(({ label }) => !hidden.has(label));
  const placeOf = (some: readonly Series[], nth: number | undefined) =>
    nth === undefined ? undefined : series.indexOf(some[nth] as Series);
  const toggle = (label: string) => {
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    setHidden(next);
  };
  const chart: ChartProps = {
    ...props,
    series: left,
    // The period before is that of all series together.
    before: left.length < series.length ? undefined : before,
    ...(href && { href: (index, nth) => href(index, placeOf(left, nth)) }),
  };
  return (
    <figure class="chart" aria-label={title}>
      <div class="row apart">
        <div class="keys">
          {(series.length > 1 || series.some(({ name }) => name !== undefined)) &&
            series.map((one) => (
              <button
                type="button"
                class="key"
                key={one.label}
                aria-pressed={!hidden.has(one.label)}
                onClick={() => toggle(one.label)}
              >
                <Swatch colour={colours(one)} />
                <span class="name" title={one.label}>
                  {one.label}
                </span>
              </button>
            ))}
          {before?.some((value) => value) && (
            <span class="key">
              <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
                <path class="before" d="M0 6h12" />
              </svg>
              {t('Previous period')}
            </span>
          )}
        </div>
        <Button kind="quiet" size="small" onClick={() => setTable(!table)}>
          {table ? t('Show chart') : t('Show table')}
          <span class="sr-only">: {title}</span>
        </Button>
      </div>
      {table ? <ChartTable {...chart} /> : <ChartDrawing chart={chart} colours={colours} />}
    </figure>
  );
}

/** Latest first. */
function ChartTable(chart: ChartProps) {
  const { title, times, series, step, kind = 'bars', format = formatCount, before } = chart;
  const isUtc = step === 'day' || step === 'month';
  const column = (label: string, read: (index: number) => number | null | undefined) => ({
    label,
    end: true,
    show: (index: number) => shown(read(index), format),
  });
  return (
    <Table
      caption={title}
      rows={times.map((_, index) => times.length - 1 - index)}
      rowKey={(index) => String(index)}
      columns={[
        {
          label: isUtc ? t('Day (UTC)') : t('Time'),
          show: (index: number) => pointName(times[index] ?? '', step),
        },
        ...series.map(({ label, values }) => column(label, (index) => values[index])),
        ...(kind === 'bars' && series.length > 1
          ? [column(t('Total'), (index) => totalAt(series, index))]
          : []),
        ...(before ? [column(t('Previous period'), (index) => before[index])] : []),
      ]}
    />
  );
}
