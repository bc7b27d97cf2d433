// Money over all accounts: balances, revenue, costs and losses.

import { useSearchParams } from 'wouter-preact';
import type {
  MoneyAccountRecord,
  MoneyFiguresRecord,
  MoneyRecord,
} from '../../../dashboard/records/operator-money.ts';
import { requestsBetween } from '../../shared/requests/addresses.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { Chart } from '../../ui/chart.tsx';
import { moneyChart } from '../../ui/chart-money.ts';
import { amountColumn, stateColumn } from '../../ui/common-columns.tsx';
import { formatCount } from '../../ui/format.ts';
import { Alert, Card, Empty, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Change, Sparkline } from '../../ui/sparkline.tsx';
import { Table } from '../../ui/table.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { Time } from '../../ui/text.tsx';
import { ModelsMoney } from './models.tsx';

const SPANS = [
  { id: '1', label: t('24 h') },
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

type Field = 'spent_usd' | 'cost_usd' | 'margin_usd' | 'loss_usd';

function MoneyFigures({ record }: { readonly record: MoneyRecord }) {
  const { totals, balances } = record;
  const { requests, uncosted } = totals;
  const isCosted = uncosted < requests;
  return (
    <Stats>
      <Stat
        label={t('Spent')}
        {...shown(record, 'spent_usd')}
        hint={t('{requests, plural, one {# request} other {# requests}}', { requests })}
      />
      <Stat
        label={t('Upstream cost')}
        {...(isCosted ? shown(record, 'cost_usd') : { value: '–' })}
        hint={isCosted ? t('known costs') : t('No costs in the catalog')}
      />
      <Stat
        label={t('Margin')}
        {...(isCosted ? shown(record, 'margin_usd') : { value: '–' })}
        hint={
          isCosted &&
          (uncosted === 0
            ? t('all requests')
            : t('without {uncosted} requests of unknown cost', { uncosted: formatCount(uncosted) }))
        }
      />
      <Stat label={t('Loss')} {...shown(record, 'loss_usd')} hint={t('not covered by balances')} />
      <Stat
        label={t('Balances')}
        value={<Amount tokens={balances.posted} usd={balances.posted_usd} />}
        hint={t('of {accounts, plural, one {# account} other {# accounts}}', {
          accounts: balances.accounts,
        })}
      />
      <Stat
        label={t('Reserved now')}
        value={<Amount tokens={balances.held} usd={balances.held_usd} />}
        hint={t('in open holds')}
      />
    </Stats>
  );
}

function shown({ totals, before, series }: MoneyRecord, field: Field) {
  const read = (figures: MoneyFiguresRecord) => Number(figures[field]);
  return {
    value: <Amount usd={totals[field]} />,
    change: <Change now={read(totals)} before={read(before)} />,
    trend: <Sparkline values={series.map(read)} />,
  };
}

function AccountsCard({
  title,
  what,
  rows,
  empty,
}: {
  readonly title: string;
  readonly what: string;
  readonly rows: readonly MoneyAccountRecord[];
  readonly empty: string;
}) {
  return (
    <Card title={title} flush>
      <Table
        caption={title}
        rows={rows}
        empty={<Empty title={t('No accounts')}>{empty}</Empty>}
        rowKey={({ account_id }) => account_id}
        href={({ account_id }) => `/accounts/${account_id}`}
        columns={[
          { label: t('Account'), show: ({ email }) => email },
          amountColumn(what, 'amount', { usd: 'amount_usd' }),
        ]}
      />
    </Card>
  );
}

function HoldsCard({ holds }: Pick<MoneyRecord, 'holds'>) {
  const { open, oldest } = holds;
  return (
    <Card
      title={
        oldest.length < open
          ? t('Oldest of {open} open holds', { open: formatCount(open) })
          : t('Open holds')
      }
      flush
    >
      <Table
        caption={t('Open holds')}
        rows={oldest}
        empty={<Empty title={t('No open holds')}>{t('No active requests.')}</Empty>}
        rowKey={({ request_id }) => request_id}
        href={({ request_id }) => `/requests/${request_id}`}
        columns={[
          { label: t('Request'), show: ({ request_id }) => <code>{request_id}</code> },
          { label: t('Created'), show: ({ created_at }) => <Time at={created_at} relative /> },
          { label: t('Model'), show: ({ model }) => model },
          stateColumn(t('Phase'), 'phase'),
          amountColumn(t('Reserved'), 'amount'),
        ]}
      />
    </Card>
  );
}
