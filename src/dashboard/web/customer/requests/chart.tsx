// Requests over time by how they ended: a refused or failed request is seen beside those that were
// served.

import { useMemo } from 'preact/hooks';
import type { RequestChartRecord } from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { withQuery } from '../../ui/api.ts';
import { Chart } from '../../ui/chart.tsx';
import { Card } from '../../ui/parts.tsx';
import { lastDays } from '../../ui/period.ts';
import { useResource } from '../../ui/resource.ts';

/** The days of the chart if the list has no time filter. */
const DAYS = 7;

export function RequestChart({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { from, to } = query;
  const path = useMemo(() => {
    const last = lastDays(DAYS);
    return withQuery('/requests/chart', { from: from || last.from, to: to || last.to });
  }, [from, to]);
  const { data } = useResource<RequestChartRecord>(path);
  const chart = data.value;
  if (chart === undefined) return null;
  const { buckets, step, completed, cancelled, failed, refused } = chart;
  const sum = [completed, cancelled, failed, refused].flat().reduce((a, b) => a + b, 0);
  if (sum === 0) return null;
  const title = step === 'day' ? t('Requests per day') : t('Requests per hour');
  return (
    <Card title={title}>
      <Chart
        title={title}
        unit={t('requests')}
        times={buckets}
        step={step}
        series={[
          { label: t('Completed'), values: completed },
          { label: t('Cancelled'), values: cancelled, tone: 'muted' },
          { label: t('Failed'), values: failed, tone: 'danger' },
          { label: t('Refused'), values: refused, tone: 'warning' },
        ]}
      />
    </Card>
  );
}
