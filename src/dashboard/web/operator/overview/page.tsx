// The start page of the console: health, active requests, and problems. The live feed updates it.

import type { MachineRecord, OperatorOverviewRecord } from '../../../records/operator-server.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { Chart } from '../../ui/chart.tsx';
import { formatCount, formatShare } from '../../ui/format.ts';
import { useLatest } from '../../ui/live.ts';
import { Card, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Badge, Time } from '../../ui/text.tsx';
import { requestsOfMinute } from '../requests/links.ts';
import { AlertsCard } from './alerts.tsx';
import { ServerCard } from './server-card.tsx';
import { Troubles } from './troubles.tsx';

export function View() {
  const overview = useResource<OperatorOverviewRecord>('/overview');
  const { latest, state } = useLatest<MachineRecord>('/feed', overview);
  const data = overview.data.value;
  const lead =
    data &&
    rich('Version {version}, started {startedAt}.', {
      version: data.version,
      startedAt: <Time at={data.started_at} relative />,
    });
  return (
    <Page
      title={t('Overview')}
      lead={lead}
      actions={
        <Badge tone={state === 'live' ? 'good' : 'neutral'}>
          {state === 'live' ? t('Live') : t('Connecting')}
        </Badge>
      }
    >
      <Loaded resource={overview} lines={8}>
        {(loaded) => <Shown machine={latest ?? loaded.live} />}
      </Loaded>
    </Page>
  );
}

function Shown({ machine }: { readonly machine: MachineRecord }) {
  return (
    <>
      <Troubles machine={machine} />
      <Figures machine={machine} />
      <Card title={t('Requests per minute, last hour')}>
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
        label={t('Active requests')}
        value={formatCount(machine.in_flight)}
        hint={t('{streamsOpen, plural, one {# stream} other {# streams}} open', {
          streamsOpen: machine.streams_open,
        })}
      />
      <Stat
        label={t('Last minute')}
        value={formatCount(before?.requests ?? 0)}
        unit={t('requests')}
        hint={t('{outputTokens} output tokens', {
          outputTokens: formatCount(before?.output_tokens ?? 0),
        })}
      />
      <Stat
        label={t('Failed, last hour')}
        value={formatCount(sum('failed'))}
        hint={t('{part} of {whole}', {
          part: formatShare(sum('failed'), sum('requests')),
          whole: formatCount(sum('requests')),
        })}
      />
      <Stat
        label={t('Spent today')}
        value={<Amount usd={today.spent_usd} detail="hero" />}
        hint={t('{requests, plural, one {# request} other {# requests}}', {
          requests: today.requests,
        })}
      />
      <Stat
        label={t('Balances')}
        value={<Amount usd={balances.posted_usd} detail="hero" />}
        hint={t('of {accounts, plural, one {# account} other {# accounts}}', {
          accounts: balances.accounts,
        })}
      />
      <Stat
        label={t('Open holds')}
        value={formatCount(holds.open)}
        hint={rich('{reserved} reserved', {
          reserved: <Amount tokens={holds.reserved} usd={holds.reserved_usd} detail="hero" />,
        })}
      />
    </Stats>
  );
}

/** Of the series of the chart, in their order. */
const SERIES_OUTCOMES = ['completed', 'refused', 'client_cancelled', 'failed'];

function MinutesChart({ machine: { minutes } }: { readonly machine: MachineRecord }) {
  return (
    <Chart
      title={t('Requests per minute, last hour')}
      unit={t('requests')}
      kind="bars"
      step="minute"
      times={minutes.map(({ at }) => at)}
      href={(index, nth) =>
        requestsOfMinute(minutes[index]?.at ?? '', { outcome: SERIES_OUTCOMES[nth ?? -1] ?? '' })
      }
      series={[
        { label: t('Succeeded'), values: minutes.map(({ succeeded }) => succeeded) },
        { label: t('Rejected'), values: minutes.map(({ refused }) => refused) },
        {
          label: t('Cancelled by client'),
          tone: 'muted',
          values: minutes.map(({ cancelled }) => cancelled),
        },
        { label: t('Failed'), tone: 'danger', values: minutes.map(({ failed }) => failed) },
      ]}
    />
  );
}
