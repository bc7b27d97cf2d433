// The start page of the console: health, active requests, and problems. The live feed updates it.

import { useEffect, useState } from 'preact/hooks';
import type { MachineRecord, OperatorOverviewRecord } from '../../../records/operator-server.ts';
import {
  Badge,
  Card,
  Chart,
  formatCount,
  formatCountOf,
  formatShare,
  formatUsdShort,
  Loaded,
  Page,
  Stat,
  Stats,
  Time,
  Tokens,
  useLive,
  useResource,
} from '../../ui/index.ts';
import { AlertsCard } from './alerts.tsx';
import { ServerCard } from './server-card.tsx';
import { Troubles } from './troubles.tsx';

export function OverviewPage() {
  const overview = useResource<OperatorOverviewRecord>('/overview');
  const [live, setLive] = useState<MachineRecord | undefined>(undefined);
  const state = useLive('/feed', { message: setLive });
  useEffect(() => {
    // Reloads what the feed does not carry, and shows the error if there is one.
    if (state.value === 'waiting') void overview.reload();
  }, [state.value]);
  const data = overview.data.value;
  const lead = data && (
    <>
      Version {data.version}, started <Time at={data.started_at} relative />.
    </>
  );
  return (
    <Page
      title="Overview"
      lead={lead}
      actions={
        <Badge tone={state.value === 'live' ? 'good' : 'neutral'}>
          {state.value === 'live' ? 'Live' : 'Connecting'}
        </Badge>
      }
    >
      <Loaded resource={overview} lines={8}>
        {(loaded) => <Shown machine={live ?? loaded.live} />}
      </Loaded>
    </Page>
  );
}

function Shown({ machine }: { readonly machine: MachineRecord }) {
  return (
    <>
      <Troubles machine={machine} />
      <Figures machine={machine} />
      <Card title="Requests per minute, last hour">
        <MinutesChart machine={machine} />
      </Card>
      <div class="grid">
        <AlertsCard alerts={machine.alerts} />
        <ServerCard machine={machine} />
      </div>
    </>
  );
}

function Figures({ machine }: { readonly machine: MachineRecord }) {
  const { minutes, today, holds, balances } = machine;
  const [before] = minutes.slice(-2);
  const sum = (field: 'requests' | 'failed') =>
    minutes.reduce((total, minute) => total + minute[field], 0);
  return (
    <Stats>
      <Stat
        label="Active requests"
        value={formatCount(machine.in_flight)}
        hint={`${formatCountOf(machine.streams_open, 'stream')} open`}
      />
      <Stat
        label="Last minute"
        value={formatCount(before?.requests ?? 0)}
        unit="requests"
        hint={`${formatCount(before?.output_tokens ?? 0)} output tokens`}
      />
      <Stat
        label="Failed, last hour"
        value={formatCount(sum('failed'))}
        hint={`${formatShare(sum('failed'), sum('requests'))} of ${formatCount(sum('requests'))}`}
      />
      <Stat
        label="Spent today"
        value={formatUsdShort(today.spent_usd)}
        hint={formatCountOf(today.requests, 'request')}
      />
      <Stat
        label="Balances"
        value={formatUsdShort(balances.posted_usd)}
        hint={`of ${formatCountOf(balances.accounts, 'account')}`}
      />
      <Stat
        label="Open holds"
        value={formatCount(holds.open)}
        hint={
          <>
            <Tokens amount={holds.reserved} decimals={0} /> tokens reserved
          </>
        }
      />
    </Stats>
  );
}

function MinutesChart({ machine: { minutes } }: { readonly machine: MachineRecord }) {
  return (
    <Chart
      title="Requests per minute, last hour"
      kind="bars"
      step="minute"
      times={minutes.map(({ at }) => at)}
      series={[
        { label: 'Succeeded', values: minutes.map(({ succeeded }) => succeeded) },
        { label: 'Rejected', values: minutes.map(({ refused }) => refused) },
        {
          label: 'Cancelled by client',
          tone: 'muted',
          values: minutes.map(({ cancelled }) => cancelled),
        },
        { label: 'Failed', tone: 'danger', values: minutes.map(({ failed }) => failed) },
      ]}
    />
  );
}
