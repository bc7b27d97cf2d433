// The customer's start page: balance, runway, active requests and next steps. The live feed updates
// its numbers.

import { useEffect, useState } from 'preact/hooks';
import type { LiveRecord, OverviewRecord } from '../../../records/customer-overview.ts';
import {
  Badge,
  Card,
  formatCount,
  formatCountOf,
  formatUsdShort,
  type LiveState,
  Loaded,
  Page,
  Stat,
  Stats,
  Tokens,
  Usd,
  useLive,
  useResource,
} from '../../ui/index.ts';
import { FirstSteps } from './first-steps.tsx';
import { LimitMeters } from './limits.tsx';
import { Notices } from './notices.tsx';
import { OpenRequests } from './open-requests.tsx';
import { SpendCard } from './spend-chart.tsx';

/** The delay before reloading what the feed does not carry, such as the month and the notices. */
const FOLLOW_MS = 3_000;

export function OverviewPage() {
  const overview = useResource<OverviewRecord>('/overview');
  const [live, setLive] = useState<LiveRecord | undefined>(undefined);
  const state = useLive('/feed', { message: setLive });
  useEffect(() => {
    // The feed reports neither an unreachable server nor the reason of a refusal; a reload does.
    if (state.value === 'waiting') void overview.reload();
  }, [state.value]);
  const data = overview.data.value;
  const isBehind = data !== undefined && live !== undefined && !isOf(live, data.live);
  useEffect(() => {
    if (!isBehind) return undefined;
    const timer = setTimeout(() => void overview.reload(), FOLLOW_MS);
    return () => clearTimeout(timer);
  }, [isBehind, data]);
  return (
    <Page title="Overview" actions={<LiveBadge state={state.value} />}>
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
        <Card title="Limits">
          <LimitMeters account={account} usage={live.usage} />
        </Card>
        <Card title="Active requests" flush>
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
  const { spend } = overview;
  const { balance, today } = live;
  return (
    <Stats>
      <Stat
        label="Balance"
        large
        value={<Usd amount={balance.available_usd} short />}
        hint={
          <>
            <Tokens amount={balance.available} decimals={0} /> service tokens
            {balance.reserved !== '0' && (
              <>
                , plus <Tokens amount={balance.reserved} decimals={0} /> reserved
              </>
            )}
          </>
        }
      />
      <Stat
        label="Runway"
        value={lasting(overview.lasts_days)}
        hint={
          overview.lasts_days === null ? 'No spend in the last 7 days.' : 'At your 7-day average'
        }
      />
      <Stat
        label="Today (UTC)"
        value={<Usd amount={today.spent_usd} short />}
        hint={formatCountOf(today.requests, 'request')}
      />
      <Stat
        label="This month"
        value={formatUsdShort(spend.this_month.spent_usd)}
        hint={formatCountOf(spend.this_month.requests, 'request')}
      />
    </Stats>
  );
}

function lasting(days: number | null): string {
  if (days === null) return '–';
  if (days < 1) return 'Less than 1 day';
  if (days > 730) return '2+ years';
  return days === 1 ? '1 day' : `${formatCount(days)} days`;
}

const STATES = {
  connecting: { tone: 'neutral', label: 'Connecting' },
  live: { tone: 'good', label: 'Live' },
  waiting: { tone: 'warning', label: 'Not live' },
} as const;

function LiveBadge({ state }: { readonly state: LiveState }) {
  return <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>;
}
