// Money over all accounts: what customers hold, what was earned and at what cost, what was lost.

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
      lead="Over all accounts, by the books. Days are UTC."
      actions={<Segments label="Span of time" choices={SPANS} active={days} onChange={setDays} />}
    >
      <Loaded resource={money} lines={10}>
        {(record) => <Shown record={record} days={days} />}
      </Loaded>
    </Page>
  );
}

function Shown({ record, days }: { readonly record: MoneyRecord; readonly days: SpanId }) {
  const { series, step } = record;
  const title = step === 'hour' ? 'USD an hour' : 'USD a day';
  const usd = (field: 'spent_usd' | 'cost_usd' | 'margin_usd' | 'loss_usd') =>
    series.map((point) => Number(point[field]));
  const isCosted = record.totals.uncosted < record.totals.requests;
  return (
    <>
      {record.behind > 0 && (
        <Alert tone="warning" title={`${formatCountOf(record.behind, 'request')} not counted yet`}>
          <p>They are being added up; this page has them in a while.</p>
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
                  { label: 'Cost of upstreams', values: usd('cost_usd') },
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
          empty="There are no accounts yet."
        />
      </div>
      <HoldsCard holds={record.holds} />
    </>
  );
}

/** Read by itself: it walks over all accounts, and nothing else waits for it. */
function Spenders({ days }: { readonly days: SpanId }) {
  const path = `/money/spenders?days=${days}`;
  const spenders = useResource<{ readonly data: readonly MoneyAccountRecord[] }>(path);
  return (
    <AccountsCard
      title="Who spends the most"
      what="Spent"
      rows={spenders.data.value?.data}
      error={spenders.error.value}
      empty="Nobody has spent anything in this time."
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
        label="Cost of upstreams"
        value={isCosted ? formatUsdShort(totals.cost_usd) : '–'}
        hint={isCosted ? 'as far as known' : 'The catalog says of no cost.'}
      />
      <Stat
        label="Margin"
        value={isCosted ? formatUsdShort(totals.margin_usd) : '–'}
        hint={
          isCosted &&
          (uncosted === 0 ? 'of all requests' : `without ${formatCount(uncosted)} of unknown cost`)
        }
      />
      <Stat
        label="Loss"
        value={formatUsdShort(totals.loss_usd)}
        hint="charged beyond what accounts had"
      />
      <Stat
        label="Balances"
        value={formatUsdShort(balances.posted_usd)}
        hint={`of ${formatCountOf(balances.accounts, 'account')}`}
      />
      <Stat
        label="Held now"
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
