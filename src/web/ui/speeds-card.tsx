// How fast answers were and how many requests failed: a chart, and a table by model.

import { useState } from 'preact/hooks';
import type {
  SpeedFiguresRecord,
  SpeedPointRecord,
  SpeedsRecord,
} from '../../dashboard/records/speeds.ts';
import { t } from '../text/t.ts';
import { Chart } from './chart.tsx';
import type { ChartProps, Series } from './chart-data.ts';
import { formatCompact, formatCount, formatMilliseconds, formatShare } from './format.ts';
import { labelOf } from './labels.ts';
import { Card, Empty } from './parts.tsx';
import { type Column, Table } from './table.tsx';
import { Segments } from './tabs.tsx';

const VIEWS = [
  { id: 'first', label: t('First token') },
  { id: 'duration', label: t('Duration') },
  { id: 'speed', label: t('Speed') },
  { id: 'errors', label: t('Errors') },
] as const;

type View = (typeof VIEWS)[number]['id'];

type Model = SpeedsRecord['models'][number];

export function SpeedsCard({
  speeds,
  href,
  withModels = true,
}: {
  readonly speeds: SpeedsRecord;
  /** The requests of a bucket. */
  readonly href?: (from: string, to: string, failed: boolean) => string;
  readonly withModels?: boolean;
}) {
  const [view, setView] = useState<View>('first');
  const { buckets, to, step, total, models } = speeds;
  const { title, unit, kind, format, series } = chartOf(view, speeds);
  return (
    <Card
      title={t('Latency and errors')}
      actions={<Segments label={t('Chart')} choices={VIEWS} active={view} onChange={setView} />}
    >
      {total.requests === 0 ? (
        <Empty title={t('No data in this period')}>
          {t('Latency appears a few seconds after a request.')}
        </Empty>
      ) : (
        <>
          <Chart
            key={view}
            title={title}
            unit={unit}
            kind={kind}
            step={step}
            times={buckets}
            format={format}
            formatAxis={view === 'errors' ? formatCompact : format}
            series={series}
            {...(href && {
              href: (index) =>
                href(buckets[index] ?? '', buckets[index + 1] ?? to, view === 'errors'),
            })}
          />
          {withModels && <ModelsTable models={models} />}
        </>
      )}
    </Card>
  );
}

function ModelsTable({ models }: { readonly models: readonly Model[] }) {
  const columns: readonly Column<Model>[] = [
    { label: t('Model'), show: ({ model }) => model, sortBy: ({ model }) => model },
    number(t('Requests'), ({ requests }) => requests, formatCount),
    {
      label: t('Failed'),
      end: true,
      show: ({ failed, requests }) => formatShare(failed, requests),
      sortBy: ({ failed, requests }) => failed / requests,
    },
    {
      ...number(t('First token (p50)'), (row) => row.first_token_ms_p50, formatMilliseconds),
      card: 'value',
    },
    number(t('First token (p95)'), (row) => row.first_token_ms_p95, formatMilliseconds),
    number(t('Duration (p50)'), (row) => row.duration_ms_p50, formatMilliseconds),
    number(t('Duration (p95)'), (row) => row.duration_ms_p95, formatMilliseconds),
    number(t('Tokens/s'), (row) => row.tokens_per_second_p50, formatCompact),
  ];
  return (
    <Table
      caption={t('Latency and errors by model')}
      rows={models}
      rowKey={({ model }) => model}
      columns={columns}
    />
  );
}

function number(
  label: string,
  read: (row: Model) => number | null,
  format: (value: number) => string,
): Column<Model> {
  return {
    label,
    end: true,
    show: (row) => {
      const value = read(row);
      return value === null ? '–' : format(value);
    },
    sortBy: (row) => read(row) ?? -1,
  };
}

type ChartOfView = Required<Pick<ChartProps, 'title' | 'unit' | 'kind' | 'format' | 'series'>>;

function chartOf(view: View, { buckets, points }: SpeedsRecord): ChartOfView {
  const values = (read: (point: SpeedPointRecord) => number | null) => {
    const all: (number | null)[] = buckets.map(() => null);
    for (const point of points) all[point.bucket] = read(point);
    return all;
  };
  const percentiles = (p50: keyof SpeedFiguresRecord, p95: keyof SpeedFiguresRecord) => [
    { label: t('Median (p50)'), values: values((point) => point[p50]) },
    { label: t('95th percentile (p95)'), values: values((point) => point[p95]) },
  ];
  switch (view) {
    case 'first':
      return {
        title: t('Time to first token (ms)'),
        unit: t('ms'),
        kind: 'line',
        format: formatMilliseconds,
        series: percentiles('first_token_ms_p50', 'first_token_ms_p95'),
      };
    case 'duration':
      return {
        title: t('Duration of complete answers (ms)'),
        unit: t('ms'),
        kind: 'line',
        format: formatMilliseconds,
        series: percentiles('duration_ms_p50', 'duration_ms_p95'),
      };
    case 'speed':
      return {
        title: t('Output tokens per second (median)'),
        unit: t('tokens/s'),
        kind: 'line',
        format: formatCompact,
        series: [
          { label: t('Median (p50)'), values: values((point) => point.tokens_per_second_p50) },
        ],
      };
    case 'errors':
      return {
        title: t('Failed requests'),
        unit: t('requests'),
        kind: 'bars',
        format: formatCount,
        series: errorSeries(points, values),
      };
  }
}

/** By class where the classes are known. */
function errorSeries(
  points: readonly SpeedPointRecord[],
  values: (read: (point: SpeedPointRecord) => number | null) => readonly (number | null)[],
): readonly Series[] {
  const classes = [...new Set(points.flatMap(({ failures }) => Object.keys(failures)))].sort();
  if (classes.length === 0) {
    return [{ label: t('Failed'), tone: 'danger', values: values(({ failed }) => failed) }];
  }
  return classes.map((kind) => ({
    label: labelOf(kind),
    name: kind,
    values: values(({ failures }) => failures[kind] ?? 0),
  }));
}
