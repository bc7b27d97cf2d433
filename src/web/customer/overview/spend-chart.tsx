// Spend, requests or tokens on each of the last 30 days. The live feed updates the last day.

import { useState } from 'preact/hooks';
import type { SpendDayRecord, SpendRecord } from '../../../dashboard/records/customer-overview.ts';
import { requestsBetween } from '../../shared/requests/addresses.ts';
import { t } from '../../text/t.ts';
import { Chart } from '../../ui/chart.tsx';
import { moneyChart } from '../../ui/chart-money.ts';
import { formatCompact, formatCount } from '../../ui/format.ts';
import { Card, Empty } from '../../ui/parts.tsx';
import { Segments } from '../../ui/tabs.tsx';

const CHOICES = [
  { id: 'spent', label: t('Spend') },
  { id: 'requests', label: t('Requests') },
  { id: 'tokens', label: t('Tokens') },
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
      title={isEmpty ? t('Last 30 days (UTC)') : series.title}
      actions={
        !isEmpty && (
          <Segments label={t('Chart')} choices={CHOICES} active={shown} onChange={setShown} />
        )
      }
    >
      {isEmpty ? (
        <Empty title={t('No requests yet')}>{t('Your daily spend appears here.')}</Empty>
      ) : (
        <Chart
          key={series.title}
          title={series.title}
          unit={series.unit}
          href={(index) => requestsOf(current[index]?.day ?? '')}
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

/** The requests of a UTC day. */
function requestsOf(day: string): string {
  const from = Date.parse(`${day}T00:00:00Z`);
  return requestsBetween(new Date(from).toISOString(), new Date(from + 86_400_000).toISOString());
}

function seriesOf(shown: Choice, days: readonly SpendDayRecord[]) {
  const counts = { unit: t('requests'), format: formatCount, formatAxis: formatCompact };
  if (shown === 'requests') {
    const values = days.map(({ requests }) => requests);
    const title = t('Requests per day, last 30 days (UTC)');
    return { title, lines: [{ label: t('Requests'), values }], ...counts };
  }
  if (shown === 'tokens') {
    const input = { label: t('Input'), values: days.map(({ input_tokens }) => input_tokens) };
    const output = { label: t('Output'), values: days.map(({ output_tokens }) => output_tokens) };
    const title = t('Model tokens per day, last 30 days (UTC)');
    return { title, lines: [input, output], ...counts, unit: t('model tokens') };
  }
  const { value, ...money } = moneyChart();
  const values = days.map(({ spent_usd }) => value(spent_usd));
  const title = t('Spend per day ({unit}), last 30 days (UTC)', { unit: money.unit });
  return { title, lines: [{ label: t('Spend'), values }], ...money };
}
