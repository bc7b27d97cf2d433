// Spend, requests or tokens on each of the last 30 days. The live feed updates the last day.

import { useState } from 'preact/hooks';
import type { SpendDayRecord, SpendRecord } from '../../../records/customer-overview.ts';
import {
  Card,
  Chart,
  Empty,
  formatCompact,
  formatCount,
  formatUsdShort,
  Segments,
} from '../../ui/index.ts';

const CHOICES = [
  { id: 'spent', label: 'Spend' },
  { id: 'requests', label: 'Requests' },
  { id: 'tokens', label: 'Tokens' },
] as const;

type Choice = (typeof CHOICES)[number]['id'];

export function SpendCard({
  days,
  today,
}: {
  readonly days: readonly SpendDayRecord[];
  readonly today: SpendRecord;
}) {
  const [shown, setShown] = useState<Choice>('spent');
  const current = days.map((day, index) =>
    index === days.length - 1 ? { ...day, ...today } : day,
  );
  const series = seriesOf(shown, current);
  const isEmpty = current.every(({ requests }) => requests === 0);
  return (
    <Card
      title="Last 30 days"
      actions={
        !isEmpty && <Segments label="Chart" choices={CHOICES} active={shown} onChange={setShown} />
      }
    >
      {isEmpty ? (
        <Empty title="No requests yet">Your daily spend appears here.</Empty>
      ) : (
        <Chart
          key={series.title}
          title={series.title}
          times={current.map(({ day }) => `${day}T00:00:00Z`)}
          series={series.lines}
          kind="bars"
          step="day"
          format={series.format}
          formatAxis={series.formatAxis}
        />
      )}
    </Card>
  );
}

/**
 * If every day spent less than this, the chart uses service tokens: fractions of a cent are hard to
 * compare.
 */
const SMALL_USD = 0.01;

function seriesOf(shown: Choice, days: readonly SpendDayRecord[]) {
  const counts = { format: formatCount, formatAxis: formatCompact };
  if (shown === 'requests') {
    const values = days.map(({ requests }) => requests);
    return { title: 'Requests per day', lines: [{ label: 'Requests', values }], ...counts };
  }
  if (shown === 'tokens') {
    const input = { label: 'Input', values: days.map(({ input_tokens }) => input_tokens) };
    const output = { label: 'Output', values: days.map(({ output_tokens }) => output_tokens) };
    return { title: 'Tokens per day', lines: [input, output], ...counts };
  }
  if (days.every(({ spent_usd }) => Number(spent_usd) < SMALL_USD)) {
    const values = days.map(({ spent }) => Number(spent));
    const title = 'Spend per day in service tokens';
    return { title, lines: [{ label: 'Service tokens', values }], ...counts };
  }
  const values = days.map(({ spent_usd }) => Number(spent_usd));
  const title = 'Spend per day in USD';
  const formatAxis = (value: number) => `$${formatCompact(value)}`;
  return { title, lines: [{ label: 'Spend', values }], format: usd, formatAxis };
}

/** Rounded for the chart; the exact amount is in the ledger. */
function usd(value: number): string {
  return formatUsdShort(value.toFixed(6));
}
