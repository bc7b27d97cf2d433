// Money over all accounts: balances, revenue, costs and losses.

import { useState } from 'preact/hooks';
import type { MoneyAccountRecord, MoneyRecord } from '../../../records/operator-catalog.ts';
import {
  Alert,
  Card,
  Chart,
  formatCompact,
  formatCount,
  formatCountOf,
  formatUsdShort,
  Loaded,
  Page,
  Segments,
  Stat,
  Stats,
  Tokens,
  useResource,
} from '../../ui/index.ts';
import { AccountsCard, HoldsCard } from './lists.tsx';
import { ModelsMoney } from './models.tsx';

const SPANS = [
  { id: '1', label: '24 hours' },
  { id: '7', label: '7 days' },
  { id: '30', label: '30 days' },
  { id: '90', label: '90 days' },
] as const;

type SpanId = (typeof SPANS)[number]['id'];

export function MoneyPage() {
  const [days, setDays] = useState<SpanId>('30');
  const money = useResource<MoneyRecord>(`/money?days=${days}`);
  return (
    <Page
      title="Money"
      lead="Totals of all accounts by day (UTC)."
      actions={<Segments label="Period" choices={SPANS} active={days} onChange={setDays} />}
    >
      <Loaded resource={money} lines={10}>
        {(record) => <Shown record={record} days={days} />}
      </Loaded>
    </Page>
  );
}

function Shown({ record, days }: { readonly record: MoneyRecord; readonly days: SpanId }) {
  const { series, step } = record;
  const title = step === 'hour' ? 'USD per hour' : 'USD per day';
  const usd = (field: 'spent_usd' | 'cost_usd' | 'margin_usd' | 'loss_usd') =>
    series.map((point) => Number(point[field]));
  const isCosted = record.totals.uncosted < record.totals.requests;
  return (
    <>
      {record.behind > 0 && (
        <Alert tone="warning" title={`${formatCountOf(record.behind, 'request')} not counted yet`}>
          <p>They are being counted and will appear soon.</p>
        </Alert>
      )}
      <Figures record={record} />
      <Card title={title}>
        <Chart
          title={title}
          kind="line"
          step={step}
          times={series.map(({ at }) => at)}
          format={(value) => formatUsdShort(value.toFixed(6))}
          formatAxis={(value) => `$${formatCompact(value)}`}
          series={[
            { label: 'Spent', values: usd('spent_usd') },
            ...(isCosted
              ? [
                  { label: 'Upstream cost', values: usd('cost_usd') },
                  { label: 'Margin', values: usd('margin_usd') },
                ]
              : []),
            { label: 'Loss', values: usd('loss_usd') },
          ]}
        />
      </Card>
      <ModelsMoney models={record.models} />
      <div class="grid">
        <Spenders days={days} />
        <AccountsCard
          title="Largest balances"
          what="Balance"
          rows={record.largest_balances}
          empty="No accounts yet."
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
    <AccountsCard
      title="Top spenders"
      what="Spent"
      rows={spenders.data.value?.data}
      error={spenders.error.value}
      empty="No spend in this period."
    />
  );
}

function Figures({ record: { totals, balances } }: { readonly record: MoneyRecord }) {
  const { requests, uncosted } = totals;
  const isCosted = uncosted < requests;
  return (
    <Stats>
      <Stat
        label="Spent"
        value={formatUsdShort(totals.spent_usd)}
        hint={formatCountOf(requests, 'request')}
      />
      <Stat
        label="Upstream cost"
        value={isCosted ? formatUsdShort(totals.cost_usd) : '–'}
        hint={isCosted ? 'known costs' : 'No costs in the catalog'}
      />
      <Stat
        label="Margin"
        value={isCosted ? formatUsdShort(totals.margin_usd) : '–'}
        hint={
          isCosted &&
          (uncosted === 0
            ? 'all requests'
            : `without ${formatCount(uncosted)} requests of unknown cost`)
        }
      />
      <Stat label="Loss" value={formatUsdShort(totals.loss_usd)} hint="not covered by balances" />
      <Stat
        label="Balances"
        value={formatUsdShort(balances.posted_usd)}
        hint={`of ${formatCountOf(balances.accounts, 'account')}`}
      />
      <Stat
        label="Reserved now"
        value={formatUsdShort(balances.held_usd)}
        hint={
          <>
            <Tokens amount={balances.held} decimals={0} /> tokens
          </>
        }
      />
    </Stats>
  );
}
