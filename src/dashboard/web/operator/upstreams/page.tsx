// The upstreams: state, load, and the switch that takes one out of service.

import type { UpstreamRecord, UpstreamsRecord } from '../../../records/operator-server.ts';
import {
  Alert,
  Badge,
  Button,
  Card,
  Empty,
  formatCount,
  formatShare,
  Loaded,
  Nothing,
  Page,
  post,
  StateBadge,
  Table,
  toast,
  useAction,
  useResource,
} from '../../ui/index.ts';
import { useRefresh } from '../refresh.ts';

export function UpstreamsPage() {
  const upstreams = useResource<UpstreamsRecord>('/upstreams');
  useRefresh(upstreams.reload);
  return (
    <Page title="Upstreams" lead="Providers serving your models, with health and failover.">
      <Loaded resource={upstreams}>
        {({ upstreams: rows, forgotten }) => (
          <>
            {forgotten.map((place) => (
              <Forgotten
                key={`${place.upstream} ${place.model}`}
                place={place}
                reload={upstreams.reload}
              />
            ))}
            <Card flush>
              <Table
                caption="Upstreams"
                rows={rows}
                rowKey={({ id }) => id}
                href={({ id }) => `/upstreams/${id}`}
                columns={[
                  { label: 'Upstream', show: ({ id }) => id, sortBy: ({ id }) => id },
                  { label: 'State', show: (row) => <StateBadge state={row.state} /> },
                  { label: 'Models', show: (row) => <Models row={row} /> },
                  {
                    label: 'Active',
                    end: true,
                    show: ({ in_flight, max_in_flight }) =>
                      `${formatCount(in_flight)} of ${formatCount(max_in_flight)}`,
                    sortBy: ({ in_flight }) => in_flight,
                  },
                  { label: 'Queued', end: true, show: ({ queued }) => formatCount(queued) },
                  { label: 'Keys', end: true, show: (row) => <Keys row={row} /> },
                  {
                    label: 'Attempts (1 h)',
                    end: true,
                    show: ({ last_hour }) => formatCount(last_hour.attempts),
                    sortBy: ({ last_hour }) => last_hour.attempts,
                  },
                  {
                    label: 'Failed',
                    end: true,
                    show: ({ last_hour: { attempts, failed } }) =>
                      failed === 0 ? <Nothing /> : formatShare(failed, attempts),
                    sortBy: ({ last_hour }) => last_hour.failed,
                  },
                ]}
              />
              {rows.length === 0 && (
                <Empty title="No upstreams">The catalog contains no upstreams.</Empty>
              )}
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Models({ row: { models } }: { readonly row: UpstreamRecord }) {
  const open = models.filter(({ breaker, disabled }) => breaker !== 'closed' && !disabled);
  return (
    <span class="row">
      {formatCount(models.length)}
      {open.length > 0 && <Badge tone="danger">{open.length} failing</Badge>}
    </span>
  );
}

function Keys({ row: { credentials } }: { readonly row: UpstreamRecord }) {
  const ok = credentials.filter(({ state }) => state === 'ok').length;
  return ok === credentials.length ? (
    formatCount(ok)
  ) : (
    <Badge tone="danger">{`${ok} of ${credentials.length}`}</Badge>
  );
}

function Forgotten({
  place: { upstream, model },
  reload,
}: {
  readonly place: UpstreamsRecord['forgotten'][number];
  readonly reload: () => Promise<void>;
}) {
  const enable = useAction(async () => {
    await post(`/upstreams/${upstream}/enable`, model === null ? {} : { model });
    toast('Entry removed.');
    await reload();
  });
  return (
    <Alert
      tone="warning"
      actions={
        <Button size="small" busy={enable.busy.value} onClick={() => void enable.run()}>
          Remove entry
        </Button>
      }
    >
      {model === null ? upstream : `${model} at ${upstream}`} is out of service, but is no longer in
      the catalog.
    </Alert>
  );
}
