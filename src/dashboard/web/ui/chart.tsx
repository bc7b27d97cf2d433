// A chart over time, with the same numbers as a table.

import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { type ChartProps, pointName } from './chart-data.ts';
import { ChartDrawing, colour, shown } from './chart-drawing.tsx';
import { formatCount } from './format.ts';
import { Table } from './table.tsx';

export function Chart(props: ChartProps) {
  const [table, setTable] = useState(false);
  const { title, series } = props;
  return (
    <figure class="chart" aria-label={title}>
      <div class="row apart">
        <div class="keys">
          {series.length > 1 &&
            series.map(({ label, tone }, nth) => (
              <span class="key" key={label}>
                <svg viewBox="0 0 12 12" aria-hidden="true">
                  <rect width="12" height="12" rx="3" fill={colour(nth, tone)} />
                </svg>
                {label}
              </span>
            ))}
        </div>
        <Button kind="quiet" size="small" onClick={() => setTable(!table)}>
          {table ? 'Show chart' : 'Show table'}
          <span class="sr-only">: {title}</span>
        </Button>
      </div>
      {table ? <ChartTable {...props} /> : <ChartDrawing {...props} />}
    </figure>
  );
}

/** Latest first. */
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
          show: (index: number) => shown(values[index], format),
        })),
      ]}
    />
  );
}
