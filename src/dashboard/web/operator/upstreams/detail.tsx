// One upstream: its models, its keys (never themselves), what failed there lately, and the switches.

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
            <Button onClick={() => setAsking('reset')}>Forget failures</Button>
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
          title="Forget the failures of this upstream?"
          consequences={[
            'Its circuit breakers close, and its refused keys are used again.',
            'Requests go there at once; what still fails is left alone again after a few of them.',
          ]}
          confirm="Forget failures"
          act={async () => {
            await post(`${path}/reset`);
            toast('Its failures are forgotten.');
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
            {disabled.reason && `: ${disabled.reason}`}. No new request goes there.
          </p>
        </Alert>
      )}
      <div class="grid">
        <Card title="Now">
          <Facts
            items={[
              ['State', <StateBadge key="state" state={record.state} />],
              ['Address', record.base_url ?? <Nothing key="none">Inside the program</Nothing>],
              ['Dialect', record.profile ?? record.dialect],
              [
                'In flight',
                `${formatCount(record.in_flight)} of at most ${formatCount(record.max_in_flight)}`,
              ],
              ['Waiting', formatCount(record.queued)],
              ['Written, last hour', `${formatCount(record.last_hour.output_tokens)} tokens`],
            ]}
          />
        </Card>
        <Card title="Keys" flush>
          <Table
            caption="Keys of this upstream"
            rows={record.credentials}
            rowKey={({ id }) => id}
            columns={[
              { label: 'Place in the catalog', show: ({ id }) => id },
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
              { label: 'Tried again', show: ({ until }) => <Time at={until} relative /> },
            ]}
          />
        </Card>
      </div>
      <PlacesCard record={record} path={path} reload={reload} />
      <Card title="Attempts a minute, last hour">
        <Chart
          title="Attempts a minute, last hour"
          kind="bars"
          step="minute"
          times={minutes.map(({ at }) => at)}
          series={[
            { label: 'Served', values: minutes.map(({ attempts, failed }) => attempts - failed) },
            { label: 'Failed', tone: 'danger', values: minutes.map(({ failed }) => failed) },
          ]}
        />
      </Card>
      <FailuresCard failures={record.failures} />
    </>
  );
}
