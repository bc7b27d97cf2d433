// Money over all accounts: balances, revenue, costs and losses.

import { useSearchParams } from 'wouter-preact';
import type { MoneyAccountRecord, MoneyRecord } from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { Chart } from '../../ui/chart.tsx';
import { moneyChart } from '../../ui/chart-money.ts';
import { Alert, Card, Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Segments } from '../../ui/tabs.tsx';
import { requestsBetween } from '../requests/links.ts';
import { MoneyFigures } from './figures.tsx';
import { AccountsCard, HoldsCard } from './lists.tsx';
import { ModelsMoney } from './models.tsx';

const SPANS = [
  { id: '1', label: t('24 hours') },
  { id: '7', label: t('7 days') },
  { id: '30', label: t('30 days') },
  { id: '90', label: t('90 days') },
] as const;

type SpanId = (typeof SPANS)[number]['id'];

export function View() {
  const [search, setSearch] = useSearchParams();
  const days = SPANS.find(({ id }) => id === search.get('days'))?.id ?? '30';
  const setDays = (id: SpanId) => setSearch({ days: id }, { replace: true });
  const money = useResource<MoneyRecord>(`/money?days=${days}`);
  return (
    <Page
      title={t('Money')}
      lead={t('Totals of all accounts by day (UTC).')}
      actions={<Segments label={t('Period')} choices={SPANS} active={days} onChange={setDays} />}
    >
      <Loaded resource={money} lines={10}>
        {(record) => <Shown record={record} days={days} />}
      </Loaded>
    </Page>
  );
}

function Shown({ record, days }: { readonly record: MoneyRecord; readonly days: SpanId }) {
  const { series, step } = record;
  const { value, ...money } = moneyChart();
  const title = t(
    '{step, select, hour {Revenue and cost per hour} other {Revenue and cost per day}} ({unit})',
    { step, unit: money.unit },
  );
  const usd = (field: 'spent_usd' | 'cost_usd' | 'margin_usd' | 'loss_usd') =>
    series.map((point) => value(point[field]));
  const isCosted = record.totals.uncosted < record.totals.requests;
  return (
    <>
      {record.behind > 0 && (
        <Alert
          tone="warning"
          title={t('{behind, plural, one {# request} other {# requests}} not counted yet', {
            behind: record.behind,
          })}
        >
          <p>{t('They are being counted and will appear soon.')}</p>
        </Alert>
      )}
      <MoneyFigures record={record} />
      <Card title={title}>
        <Chart
          title={title}
          kind="line"
          step={step}
          times={series.map(({ at }) => at)}
          href={(index) =>
            requestsBetween(
              series[index]?.at ?? '',
              series[index + 1]?.at ?? new Date().toISOString(),
            )
          }
          {...money}
          series={[
            { label: t('Spent'), values: usd('spent_usd') },
            ...(isCosted
              ? [
                  { label: t('Upstream cost'), values: usd('cost_usd') },
                  { label: t('Margin'), values: usd('margin_usd') },
                ]
              : []),
            { label: t('Loss'), tone: 'danger', values: usd('loss_usd') },
          ]}
        />
      </Card>
      <ModelsMoney models={record.models} />
      <div class="grid">
        <Spenders days={days} />
        <AccountsCard
          title={t('Largest balances')}
          what={t('Balance')}
          rows={record.largest_balances}
          empty={t('No accounts yet.')}
        />
      </div>
      <HoldsCard holds={record.holds} />
    </>
  );
}

/** Loaded separately, because the server reads all accounts for it. */
function Spenders({ days }: { readonly days: SpanId }) {
  const path = `/money/spenders?days=${days}`;
  const spenders = useResource<{ readonly data: readonly MoneyAccountRecord[] }>(path);
  return (
    <Loaded resource={spenders}>
      {({ data }) => (
        <AccountsCard
          title={t('Top spenders')}
          what={t('Spent')}
          rows={data}
          empty={t('No spend in this period.')}
        />
      )}
    </Loaded>
  );
}
