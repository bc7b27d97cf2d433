// The upstreams: state, load, and the switch that takes one out of service.

import type {
  UpstreamRecord,
  UpstreamsRecord,
} from '../../../dashboard/records/operator-server.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { countColumn, numberColumn } from '../../ui/common-columns.tsx';
import { formatCount, formatShare } from '../../ui/format.ts';
import { Card, Empty, Loaded, Page } from '../../ui/parts.tsx';
import { may } from '../../ui/permission.ts';
import { useResource } from '../../ui/resource.ts';
import { Table } from '../../ui/table.tsx';
import { Badge, Nothing, StateBadge } from '../../ui/text.tsx';
import { ForgottenAlert } from '../forgotten.tsx';
import { useRefresh } from '../refresh.ts';

export function View() {
  const upstreams = useResource<UpstreamsRecord>('/upstreams');
  useRefresh(upstreams);
  return (
    <Page
      title={t('Upstreams')}
      lead={t('Providers serving your models, with health and failover.')}
      actions={
        may('service.manage') && (
          <LinkButton kind="primary" href="/catalog/new/upstream">
            {t('New upstream')}
          </LinkButton>
        )
      }
    >
      <Loaded resource={upstreams}>
        {({ upstreams: rows, forgotten }) => (
          <>
            {forgotten.map(({ upstream, model }) => (
              <ForgottenAlert
                key={`${upstream} ${model}`}
                text={
                  model === null
                    ? t('{upstream} is out of service, but is no longer in the catalog.', {
                        upstream,
                      })
                    : t(
                        '{model} at {upstream} is out of service, but is no longer in the catalog.',
                        {
                          model,
                          upstream,
                        },
                      )
                }
                act={() => post(`/upstreams/${upstream}/enable`, model === null ? {} : { model })}
                reload={upstreams.reload}
              />
            ))}
            <Card flush>
              <Table
                caption={t('Upstreams')}
                rows={rows}
                rowKey={({ id }) => id}
                href={({ id }) => `/upstreams/${id}`}
                columns={[
                  { label: t('Upstream'), show: ({ id }) => id, sortBy: ({ id }) => id },
                  {
                    label: t('State'),
                    card: 'value',
                    show: (row) => <StateBadge state={row.state} />,
                  },
                  { label: t('Models'), card: 'labelled', show: (row) => <Models row={row} /> },
                  numberColumn<UpstreamRecord>(t('Active'), ({ in_flight }) => in_flight, {
                    show: ({ in_flight, max_in_flight }) =>
                      t('{part} of {whole}', {
                        part: formatCount(in_flight),
                        whole: formatCount(max_in_flight),
                      }),
                  }),
                  countColumn(t('Queued'), 'queued', { card: 'hidden' }),
                  {
                    label: t('Keys'),
                    card: 'hidden',
                    end: true,
                    show: (row) => <Keys row={row} />,
                  },
                  numberColumn<UpstreamRecord>(
                    t('Attempts (1 h)'),
                    ({ last_hour }) => last_hour.attempts,
                  ),
                  numberColumn<UpstreamRecord>(t('Failed'), ({ last_hour }) => last_hour.failed, {
                    show: ({ last_hour: { attempts, failed } }) =>
                      failed === 0 ? <Nothing /> : formatShare(failed, attempts),
                  }),
                ]}
              />
              {rows.length === 0 && (
                <Empty title={t('No upstreams')}>{t('The catalog contains no upstreams.')}</Empty>
              )}
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Models({ row: { models } }: { readonly row: UpstreamRecord }) {
  const open = models.filter(({ state }) => state === 'failing');
  return (
    <span class="row">
      {formatCount(models.length)}
      {open.length > 0 && (
        <Badge tone="danger">{t('{count} failing', { count: open.length })}</Badge>
      )}
    </span>
  );
}

function Keys({ row: { credentials } }: { readonly row: UpstreamRecord }) {
  const ok = credentials.filter(({ state }) => state === 'ok').length;
  return ok === credentials.length ? (
    formatCount(ok)
  ) : (
    <Badge tone="danger">{t('{part} of {whole}', { part: ok, whole: credentials.length })}</Badge>
  );
}
