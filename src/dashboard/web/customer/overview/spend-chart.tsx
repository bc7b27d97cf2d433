// What was spent, or asked for, on each of the last days. The last day is moved by the live feed.

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
      title="The last 30 days"
      actions={
        !isEmpty && (
          <Segments label="What is drawn" choices={CHOICES} active={shown} onChange={setShown} />
        )
      }
    >
      {isEmpty ? (
        <Empty title="No requests yet">What you spend will be drawn here, day by day.</Empty>
      ) : (
        <Chart
          key={shown}
          title={series.title}
          times={current.map(({ day }) => `${day}T00:00:00Z`)}
          series={series.lines}
          kind="bars"
          step="day"
          format={shown === 'spent' ? usd : formatCount}
          formatAxis={shown === 'spent' ? usdMark : formatCompact}
        />
      )}
    </Card>
  );
}

function seriesOf(shown: Choice, days: readonly SpendDayRecord[]) {
  if (shown === 'spent') {
    const values = days.map(({ spent_usd }) => Number(spent_usd));
    return { title: 'Spend a day in USD', lines: [{ label: 'Spend', values }] };
  }
  if (shown === 'requests') {
    const values = days.map(({ requests }) => requests);
    return { title: 'Requests a day', lines: [{ label: 'Requests', values }] };
  }
  return {
    title: 'Tokens a day',
    lines: [
      { label: 'Input', values: days.map(({ input_tokens }) => input_tokens) },
      { label: 'Output', values: days.map(({ output_tokens }) => output_tokens) },
    ],
  };
}

/** A mark on the axis: two digits that count, however little was spent. */
function usdMark(value: number): string {
  if (value === 0 || value >= 1) return `$${formatCompact(value)}`;
  const decimals = Math.ceil(-Math.log10(value)) + 1;
  return `$${value.toFixed(decimals).replace(/0+$/, '')}`;
}

/** A bar is a picture of the amount; its exact value is in the ledger. */
function usd(value: number): string {
  return formatUsdShort(value.toFixed(6));
}
