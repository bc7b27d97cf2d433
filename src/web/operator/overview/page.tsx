// The start page of the console: health, active requests, and problems. The live feed updates it.

import type {
  MachineRecord,
  OperatorOverviewRecord,
} from '../../../dashboard/records/operator-server.ts';
import { requestsOfMinute } from '../../shared/requests/addresses.ts';
import { rich } from '../../text/rich.ts';
import { listed, t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { formatCount, formatMilliseconds, formatShare } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';
import { Link } from '../../ui/link.tsx';
import { useLatest } from '../../ui/live.ts';
import { Alert, Card, Facts, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Badge, StateBadge, Time } from '../../ui/text.tsx';
import { useOpen } from '../open-count.tsx';
import { AlertsCard } from './alerts.tsx';
import { OpenProblems } from './problems.tsx';

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
  useOpen(machine.open);
  return (
    <>
      <Troubles machine={machine} />
      <Figures machine={machine} />
      <Card title={t('Requests per minute, last hour')}>
        <MinutesChart machine={machine} />
      </Card>
      <div class="grid">
        <AlertsCard alerts={machine.alerts} isWell={machine.open.problems.length === 0} />
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
        value={<Amount usd={today.spent_usd} />}
        hint={t('{requests, plural, one {# request} other {# requests}}', {
          requests: today.requests,
        })}
      />
      <Stat
        label={t('Balances')}
        value={<Amount usd={balances.posted_usd} />}
        hint={t('of {accounts, plural, one {# account} other {# accounts}}', {
          accounts: balances.accounts,
        })}
      />
      <Stat
        label={t('Open holds')}
        value={formatCount(holds.open)}
        hint={rich('{reserved} reserved', {
          reserved: <Amount tokens={holds.reserved} usd={holds.reserved_usd} />,
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

function ServerCard({ machine }: { readonly machine: MachineRecord }) {
  const { open, catalog, upstreams } = machine;
  const { status } = open;
  return (
    <Card title={t('Server')}>
      <Facts
        items={[
          [
            t('State'),
            <StateBadge key="state" state={status} tone={status === 'ready' ? 'good' : 'danger'} />,
          ],
          [t('Upstreams'), <Upstreams key="upstreams" upstreams={upstreams} />],
          [
            t('Catalog'),
            <span key="catalog">
              <Link href="/catalog">{t('version {version}', { version: catalog.version })}</Link>,{' '}
              <Time at={catalog.loaded_at} relative />
            </span>,
          ],
          [
            t('Ledger queue'),
            t('{ledgerPending} pending writes', {
              ledgerPending: formatCount(machine.ledger_pending),
            }),
          ],
          [
            t('Event loop'),
            t('max lag {loopLagMs}, last minute', {
              loopLagMs: formatMilliseconds(machine.loop_lag_ms),
            }),
          ],
        ]}
      />
    </Card>
  );
}

function Upstreams({ upstreams }: Pick<MachineRecord, 'upstreams'>) {
  const parts = Object.entries(upstreams).flatMap(([state, count]) =>
    count === 0 ? [] : [`${formatCount(count)} ${labelOf(state)}`],
  );
  return <Link href="/upstreams">{listed(parts)}</Link>;
}

function Troubles({ machine }: { readonly machine: MachineRecord }) {
  const { open, maintenance, catalog } = machine;
  return (
    <>
      <OpenProblems record={open} />
      {maintenance.on && (
        <Alert
          tone="warning"
          title={t('Maintenance: all requests are rejected')}
          actions={<Go href="/maintenance">{t('Maintenance')}</Go>}
        >
          {maintenance.message && (
            <p>{t('Message to clients: {message}', { message: maintenance.message })}</p>
          )}
        </Alert>
      )}
      {catalog.origin === 'built-in' && (
        <Alert
          title={t('Using the demo catalog')}
          actions={<Go href="/catalog">{t('Catalog')}</Go>}
        >
          <p>{t('Write a catalog.toml next to the server to sell your own models.')}</p>
        </Alert>
      )}
    </>
  );
}

function Go({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <LinkButton href={href} size="small">
      {children}
    </LinkButton>
  );
}
