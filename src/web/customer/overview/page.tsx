// The customer's start page: balance, runway, active requests and next steps. The live feed updates
// its numbers.

import { useEffect, useState } from 'preact/hooks';
import type { LimitUsageRecord, OwnAccountRecord } from '../../../dashboard/records/account.ts';
import type { LiveRecord, OverviewRecord } from '../../../dashboard/records/customer-overview.ts';
import { LimitMeters, meter } from '../../shared/limits.tsx';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount, OtherAmount } from '../../ui/amount.tsx';
import { amountColumn } from '../../ui/common-columns.tsx';
import { formatCount } from '../../ui/format.ts';
import { type LiveState, useLatest } from '../../ui/live.ts';
import { Card, Empty, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Sparkline } from '../../ui/sparkline.tsx';
import { Table } from '../../ui/table.tsx';
import { Badge, Time } from '../../ui/text.tsx';
import { AddBalance } from '../add-balance.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Notices } from './notices.tsx';
import { SpendCard } from './spend-chart.tsx';

/** The delay before reloading what the feed does not carry, such as the month and the notices. */
const FOLLOW_MS = 3_000;

export function View() {
  const overview = useResource<OverviewRecord>('/overview');
  const { latest: live, state } = useLatest<LiveRecord>('/feed', overview);
  const data = overview.data.value;
  const isBehind = data !== undefined && live !== undefined && !isOf(live, data.live);
  useEffect(() => {
    if (!isBehind) return undefined;
    const timer = setTimeout(() => void overview.reload(), FOLLOW_MS);
    return () => clearTimeout(timer);
  }, [isBehind, data]);
  return (
    <Page title={t('Overview')} actions={<LiveBadge state={state} />}>
      <Loaded resource={overview} lines={8}>
        {(data) => <Shown overview={data} live={live ?? data.live} reload={overview.reload} />}
      </Loaded>
    </Page>
  );
}

/** Whether both show the same state of the ledger. */
function isOf(live: LiveRecord, shown: LiveRecord): boolean {
  return live.today.requests === shown.today.requests && live.balance.total === shown.balance.total;
}

type ShownProps = {
  readonly overview: OverviewRecord;
  readonly live: LiveRecord;
  readonly reload: () => unknown;
};

function Shown(props: ShownProps) {
  const { overview, live, reload } = props;
  const { account, days, first_steps: steps } = overview;
  // Stays until the page is left: the new key is shown above it, and its last step gets done.
  const [isNew] = useState(!steps.has_key || !steps.has_request);
  return (
    <>
      <Notices overview={overview} reload={reload} />
      <Figures {...props} />
      {isNew && <FirstSteps overview={overview} reload={reload} />}
      <div class="grid">
        <Card title={t('Limits')}>
          <LimitsUsed account={account} usage={live.usage} />
        </Card>
        <Card title={t('Active requests')} flush>
          <OpenRequests live={live} />
        </Card>
      </div>
      <SpendCard days={days} today={live.today} />
    </>
  );
}

function Figures({ overview, live, reload }: ShownProps) {
  const { spend, days } = overview;
  const { balance, today } = live;
  return (
    <Stats>
      <Stat
        label={t('Balance')}
        large
        value={<Amount tokens={balance.available} usd={balance.available_usd} />}
        hint={
          <>
            <OtherAmount tokens={balance.available} usd={balance.available_usd} />
            {balance.reserved !== '0' &&
              rich(', plus {reserved} reserved', {
                reserved: <Amount tokens={balance.reserved} />,
              })}
          </>
        }
        trend={
          <div>
            <AddBalance size="small" onAdded={reload} />
          </div>
        }
      />
      <Stat
        label={t('Runway')}
        value={lasting(overview.lasts_days)}
        hint={
          overview.lasts_days === null
            ? t('No spend in the last 7 days.')
            : t('At your 7-day average')
        }
      />
      <Stat
        label={t('Today (UTC)')}
        value={<Amount usd={today.spent_usd} />}
        hint={t('{requests, plural, one {# request} other {# requests}}', {
          requests: today.requests,
        })}
      />
      <Stat
        label={t('This month')}
        value={<Amount usd={spend.this_month.spent_usd} />}
        hint={t('{requests, plural, one {# request} other {# requests}}', {
          requests: spend.this_month.requests,
        })}
        trend={
          <Sparkline
            values={days.slice(-new Date().getUTCDate()).map(({ spent }) => Number(spent))}
          />
        }
      />
    </Stats>
  );
}

function lasting(days: number | null): string {
  if (days === null) return '–';
  if (days < 1) return t('Less than 1 day');
  if (days > 730) return t('2+ years');
  return days === 1 ? t('1 day') : t('{days} days', { days: formatCount(days) });
}

const STATES = {
  connecting: { tone: 'neutral', label: t('Connecting') },
  live: { tone: 'good', label: t('Live') },
  waiting: { tone: 'warning', label: t('Not live') },
} as const;

function LiveBadge({ state }: { readonly state: LiveState }) {
  return <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>;
}

function LimitsUsed({
  account: { limits, plan, api_keys },
  usage,
}: {
  readonly account: OwnAccountRecord;
  readonly usage: LimitUsageRecord;
}) {
  const { requests_this_minute: requests } = usage;
  const seconds = useCountdown(usage);
  return (
    <>
      <LimitMeters limits={limits} usage={usage} />
      {meter(t('Active API keys'), api_keys.active, api_keys.limit)}
      <p class="soft small">
        {requests.used > 0
          ? t('Plan {name}. Window resets in {seconds} s.', { name: plan.name, seconds })
          : t('Plan {name}. Window starts with your next request.', { name: plan.name })}
      </p>
    </>
  );
}

/**
 * The feed sends the time left in the window only when something changes; this counts down between.
 */
function useCountdown(usage: LimitUsageRecord): number {
  const given = usage.requests_this_minute.resets_in_s;
  const [seconds, setSeconds] = useState(given);
  useEffect(() => {
    setSeconds(given);
    const timer = setInterval(() => setSeconds((left) => Math.max(1, left - 1)), 1_000);
    return () => clearInterval(timer);
  }, [usage]);
  return seconds;
}

function OpenRequests({ live }: { readonly live: LiveRecord }) {
  const { open_requests: open, usage } = live;
  if (open.length === 0) {
    return (
      <Empty title={t('No active requests')}>{t('Requests appear here while they run.')}</Empty>
    );
  }
  return (
    <>
      <Table
        caption={t('Active requests')}
        rows={open}
        rowKey={({ request_id }) => request_id}
        href={({ request_id }) => `/requests/${request_id}`}
        columns={[
          {
            label: t('Model'),
            wrap: true,
            show: ({ model, request_id }) => (
              <>
                {model}
                <br />
                <code class="soft small">{request_id}</code>
              </>
            ),
          },
          { label: t('Started'), show: ({ started_at }) => <Time relative at={started_at} /> },
          amountColumn(t('Reserved'), 'reserved'),
        ]}
      />
      {usage.in_flight > open.length && (
        <div class="table-foot">
          <span class="soft">
            {t('Showing the newest of {inFlight}.', { inFlight: formatCount(usage.in_flight) })}
          </span>
        </div>
      )}
    </>
  );
}
