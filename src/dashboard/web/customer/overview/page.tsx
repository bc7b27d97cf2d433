// The customer's start page: balance, runway, active requests and next steps. The live feed updates
// its numbers.

import { useEffect } from 'preact/hooks';
import type { LiveRecord, OverviewRecord } from '../../../records/customer-overview.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount, OtherAmount } from '../../ui/amount.tsx';
import { formatCount } from '../../ui/format.ts';
import { type LiveState, useLatest } from '../../ui/live.ts';
import { Card, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Sparkline } from '../../ui/sparkline.tsx';
import { Badge } from '../../ui/text.tsx';
import { FirstSteps } from './first-steps.tsx';
import { LimitMeters } from './limits.tsx';
import { Notices } from './notices.tsx';
import { OpenRequests } from './open-requests.tsx';
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
        {(data) => <Shown overview={data} live={live ?? data.live} />}
      </Loaded>
    </Page>
  );
}

/** Whether both show the same state of the ledger. */
function isOf(live: LiveRecord, shown: LiveRecord): boolean {
  return live.today.requests === shown.today.requests && live.balance.total === shown.balance.total;
}

function Shown({
  overview,
  live,
}: {
  readonly overview: OverviewRecord;
  readonly live: LiveRecord;
}) {
  const { account, days, first_steps: steps } = overview;
  const isNew = !steps.has_key || !steps.has_request;
  return (
    <>
      <Notices overview={overview} />
      <Figures overview={overview} live={live} />
      {isNew && <FirstSteps overview={overview} />}
      <div class="grid">
        <Card title={t('Limits')}>
          <LimitMeters account={account} usage={live.usage} />
        </Card>
        <Card title={t('Active requests')} flush>
          <OpenRequests live={live} />
        </Card>
      </div>
      <SpendCard days={days} today={live.today} />
    </>
  );
}

function Figures({
  overview,
  live,
}: {
  readonly overview: OverviewRecord;
  readonly live: LiveRecord;
}) {
  const { spend, days } = overview;
  const { balance, today } = live;
  return (
    <Stats>
      <Stat
        label={t('Balance')}
        large
        value={<Amount tokens={balance.available} usd={balance.available_usd} detail="hero" />}
        hint={
          <>
            <OtherAmount tokens={balance.available} usd={balance.available_usd} />
            {balance.reserved !== '0' &&
              rich(', plus {reserved} reserved', {
                reserved: <Amount tokens={balance.reserved} detail="hero" />,
              })}
          </>
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
        value={<Amount usd={today.spent_usd} detail="hero" />}
        hint={t('{requests, plural, one {# request} other {# requests}}', {
          requests: today.requests,
        })}
        trend={<Sparkline values={days.slice(-7).map(({ spent }) => Number(spent))} />}
      />
      <Stat
        label={t('This month')}
        value={<Amount usd={spend.this_month.spent_usd} detail="hero" />}
        hint={t('{requests, plural, one {# request} other {# requests}}', {
          requests: spend.this_month.requests,
        })}
        trend={<Sparkline values={days.map(({ spent }) => Number(spent))} />}
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
