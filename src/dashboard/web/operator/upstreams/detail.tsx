// One upstream: models, key states (never the keys), recent failures, and switches.

import { useState } from 'preact/hooks';
import type { UpstreamDetailRecord } from '../../../records/operator-server.ts';
import {
  Alert,
  Button,
  Card,
  Chart,
  ConfirmDialog,
  Facts,
  formatCount,
  Loaded,
  Nothing,
  Page,
  type PageProps,
  post,
  StateBadge,
  Table,
  Time,
  toast,
  useResource,
} from '../../ui/index.ts';
import { useRefresh } from '../refresh.ts';
import { FailuresCard } from './failures.tsx';
import { DisableDialog, EnableButton, PlacesCard } from './places.tsx';

export function UpstreamPage({ params }: PageProps) {
  const path = `/upstreams/${params['id'] ?? ''}`;
  const upstream = useResource<UpstreamDetailRecord>(path);
  const [asking, setAsking] = useState<'disable' | 'reset' | undefined>(undefined);
  useRefresh(upstream.reload);
  const data = upstream.data.value;
  return (
    <Page
      title={params['id'] ?? ''}
      back={{ href: '/upstreams', label: 'Upstreams' }}
      actions={
        data && (
          <>
            <Button onClick={() => setAsking('reset')}>Reset failures</Button>
            {data.disabled === null ? (
              <Button kind="danger" onClick={() => setAsking('disable')}>
                Take out of service
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
        <DisableDialog path={path} reload={upstream.reload} onClose={() => setAsking(undefined)} />
      )}
      {asking === 'reset' && (
        <ConfirmDialog
          title="Reset the failures of this upstream?"
          consequences={[
            'Circuit breakers close, and rejected keys are used again.',
            'Requests go there at once. A breaker opens again after a few failures.',
          ]}
          confirm="Reset failures"
          act={async () => {
            await post(`${path}/reset`);
            toast('Failures reset.');
            await upstream.reload();
          }}
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
        <Alert tone="warning" title="Out of service">
          <p>
            Since <Time at={disabled.since} />
            {disabled.reason && `: ${disabled.reason}`}. It gets no new requests.
          </p>
        </Alert>
      )}
      <div class="grid">
        <Card title="Status">
          <Facts
            items={[
              ['State', <StateBadge key="state" state={record.state} />],
              ['Address', record.base_url ?? <Nothing key="none">Built in</Nothing>],
              ['Dialect', record.profile ?? record.dialect],
              [
                'Active requests',
                `${formatCount(record.in_flight)} of ${formatCount(record.max_in_flight)}`,
              ],
              ['Queued', formatCount(record.queued)],
              ['Output tokens (1 h)', `${formatCount(record.last_hour.output_tokens)} tokens`],
            ]}
          />
        </Card>
        <Card title="Keys" flush>
          <Table
            caption="Keys of this upstream"
            rows={record.credentials}
            rowKey={({ id }) => id}
            columns={[
              { label: 'Catalog entry', show: ({ id }) => id },
              {
                label: 'State',
                show: ({ state, status }) => (
                  <span class="row">
                    <StateBadge
                      state={state === 'ok' ? 'ok' : 'resting'}
                      tone={state === 'ok' ? 'good' : 'danger'}
                    />
                    {status !== null && `status ${status}`}
                  </span>
                ),
              },
              { label: 'Next retry', show: ({ until }) => <Time at={until} relative /> },
            ]}
          />
        </Card>
      </div>
      <PlacesCard record={record} path={path} reload={reload} />
      <Card title="Attempts per minute, last hour">
        <Chart
          title="Attempts per minute, last hour"
          kind="bars"
          step="minute"
          times={minutes.map(({ at }) => at)}
          series={[
            {
              label: 'Succeeded',
              values: minutes.map(({ attempts, failed }) => attempts - failed),
            },
            { label: 'Failed', tone: 'danger', values: minutes.map(({ failed }) => failed) },
          ]}
        />
      </Card>
      <FailuresCard failures={record.failures} />
    </>
  );
}
