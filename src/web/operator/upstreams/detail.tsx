// One upstream: models, key states (never the keys), recent failures, and switches.

import { useState } from 'preact/hooks';
import type { UpstreamDetailRecord } from '../../../dashboard/records/operator-server.ts';
import { requestsBetween, requestsOfMinute } from '../../shared/requests/addresses.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { formatCount, tokenCount } from '../../ui/format.ts';
import type { PageProps } from '../../ui/page.ts';
import { Alert, Card, Facts, Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Speeds } from '../../ui/speeds.tsx';
import { Table } from '../../ui/table.tsx';
import { Nothing, StateBadge, Time } from '../../ui/text.tsx';
import { useRefresh } from '../refresh.ts';
import { FailuresCard, WordsCard } from './failures.tsx';
import { DisableDialog, EnableButton, PlacesCard } from './places.tsx';

export function View({ params }: PageProps) {
  const path = `/upstreams/${params['id'] ?? ''}`;
  const upstream = useResource<UpstreamDetailRecord>(path);
  const [asking, setAsking] = useState<'disable' | 'reset' | undefined>(undefined);
  useRefresh(upstream);
  const data = upstream.data.value;
  return (
    <Page
      title={params['id'] ?? ''}
      back={{ href: '/upstreams', label: t('Upstreams') }}
      actions={
        data && (
          <>
            <LinkButton href={`/catalog/edit/upstream/${data.id}`}>{t('Edit')}</LinkButton>
            <Button needs="service.manage" onClick={() => setAsking('reset')}>
              {t('Reset failures')}
            </Button>
            {data.disabled === null ? (
              <Button kind="danger" needs="service.manage" onClick={() => setAsking('disable')}>
                {t('Take out of service')}
              </Button>
            ) : (
              <EnableButton path={path} reload={upstream.reload} />
            )}
          </>
        )
      }
    >
      <Loaded resource={upstream} lines={8}>
        {(record) => <Shown record={record} path={path} reload={upstream.reload} />}
      </Loaded>
      {asking === 'disable' && (
        <DisableDialog path={path} onDone={upstream.reload} onClose={() => setAsking(undefined)} />
      )}
      {asking === 'reset' && (
        <ConfirmDialog
          title={t('Reset the failures of this upstream?')}
          consequences={[
            t('Circuit breakers close, and rejected keys are used again.'),
            t('Requests go there at once. A breaker opens again after a few failures.'),
          ]}
          confirm={t('Reset failures')}
          act={() => post(`${path}/reset`)}
          done={t('Failures reset.')}
          onDone={upstream.reload}
          onClose={() => setAsking(undefined)}
        />
      )}
    </Page>
  );
}

function Shown({
  record,
  path,
  reload,
}: {
  readonly record: UpstreamDetailRecord;
  readonly path: string;
  readonly reload: () => Promise<void>;
}) {
  const { disabled, minutes } = record;
  return (
    <>
      {disabled && (
        <Alert tone="warning" title={t('Out of service')}>
          <p>
            {t('It gets no new requests.')}{' '}
            {rich('Since {at}', { at: <Time at={disabled.since} /> })}
            {disabled.reason && `: ${disabled.reason}`}
          </p>
        </Alert>
      )}
      <div class="grid">
        <Card title={t('Status')}>
          <Facts
            items={[
              [t('State'), <StateBadge key="state" state={record.state} />],
              [t('Address'), record.base_url ?? <Nothing key="none">{t('Built in')}</Nothing>],
              [t('Dialect'), record.profile ?? record.dialect],
              [
                t('Active requests'),
                t('{part} of {whole}', {
                  part: formatCount(record.in_flight),
                  whole: formatCount(record.max_in_flight),
                }),
              ],
              [t('Queued'), formatCount(record.queued)],
              [t('Output tokens (1 h)'), tokenCount(record.last_hour.output_tokens)],
            ]}
          />
        </Card>
        <Card title={t('Keys')} flush>
          <Table
            caption={t('Keys of this upstream')}
            rows={record.credentials}
            rowKey={({ id }) => id}
            columns={[
              { label: t('Catalog entry'), show: ({ id }) => id },
              {
                label: t('State'),
                card: 'value',
                show: ({ state, status }) => (
                  <span class="row">
                    <StateBadge
                      state={state === 'ok' ? 'ok' : 'resting'}
                      tone={state === 'ok' ? 'good' : 'danger'}
                    />
                    {status !== null && t('status {status}', { status })}
                  </span>
                ),
              },
              { label: t('Next retry'), show: ({ until }) => <Time at={until} relative /> },
            ]}
          />
        </Card>
      </div>
      <PlacesCard record={record} path={path} reload={reload} />
      <Card title={t('Attempts per minute, last hour')}>
        <Chart
          title={t('Attempts per minute, last hour')}
          unit={t('attempts')}
          kind="bars"
          step="minute"
          times={minutes.map(({ at }) => at)}
          // A failed attempt has no requests of its own: another one may have served its request.
          href={(index, nth) =>
            nth === 0
              ? requestsOfMinute(minutes[index]?.at ?? '', { upstream: record.id })
              : undefined
          }
          series={[
            {
              label: t('Succeeded'),
              values: minutes.map(({ attempts, failed }) => attempts - failed),
            },
            { label: t('Failed'), tone: 'danger', values: minutes.map(({ failed }) => failed) },
          ]}
        />
      </Card>
      <Speeds
        path={`${path}/speeds`}
        href={(from, to) => requestsBetween(from, to, { upstream: record.id })}
      />
      <WordsCard words={record.words} />
      <FailuresCard failures={record.failures} />
    </>
  );
}
