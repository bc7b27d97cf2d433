// The models for sale: state, price, and sales of the last day.

import type {
  OperatorModelRecord,
  OperatorModelsRecord,
} from '../../../dashboard/records/operator-model.ts';
import { t } from '../../text/t.ts';
import { Price } from '../../ui/amount.tsx';
import { remove } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { numberColumn, usdColumn } from '../../ui/common-columns.tsx';
import { formatCount, formatShare } from '../../ui/format.ts';
import { Card, Empty, Loaded, Page } from '../../ui/parts.tsx';
import { may } from '../../ui/permission.ts';
import { useResource } from '../../ui/resource.ts';
import { Table } from '../../ui/table.tsx';
import { Badge, StateBadge } from '../../ui/text.tsx';
import { ForgottenAlert } from '../forgotten.tsx';
import { useRefresh } from '../refresh.ts';

export function View() {
  const models = useResource<OperatorModelsRecord>('/models');
  useRefresh(models, 15_000);
  return (
    <Page
      title={t('Models')}
      lead={t('Models in the catalog. Current prices in USD per 1M tokens.')}
      actions={
        may('service.manage') && (
          <LinkButton kind="primary" href="/catalog/new/model">
            {t('New model')}
          </LinkButton>
        )
      }
    >
      <Loaded resource={models}>
        {({ models: rows, forgotten }) => (
          <>
            {forgotten.map(({ model }) => (
              <ForgottenAlert
                key={model}
                text={t('{model} has lower limits, but is no longer in the catalog.', { model })}
                act={() => remove(`/models/${model}/incident`)}
                reload={models.reload}
              />
            ))}
            <Card flush>
              <ModelsTable rows={rows} />
              {rows.length === 0 && (
                <Empty title={t('No models')}>{t('The catalog contains no models.')}</Empty>
              )}
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function ModelsTable({ rows }: { readonly rows: readonly OperatorModelRecord[] }) {
  return (
    <Table
      caption={t('Models')}
      name="operator-models"
      rows={rows}
      rowKey={({ id }) => id}
      href={({ id }) => `/models/${id}`}
      columns={[
        { label: t('Model'), show: ({ id }) => id, sortBy: ({ id }) => id },
        {
          label: t('State'),
          card: 'state',
          show: ({ state, incident }) => (
            <span class="row">
              <StateBadge state={state} />
              {incident && <Badge tone="warning">{t('Limits lowered')}</Badge>}
            </span>
          ),
        },
        { label: t('Input'), end: true, show: ({ price }) => <Price usd={price.input} /> },
        { label: t('Output'), end: true, show: ({ price }) => <Price usd={price.output} /> },
        {
          label: t('Upstreams'),
          card: 'hidden',
          end: true,
          show: ({ placements }) => formatCount(placements.length),
        },
        numberColumn<OperatorModelRecord>(
          t('Requested (24 h)'),
          ({ last_day }) => last_day.requested,
        ),
        numberColumn<OperatorModelRecord>(t('Served (24 h)'), ({ last_day }) => last_day.requests),
        numberColumn<OperatorModelRecord>(t('Failed'), ({ last_day }) => last_day.failed, {
          show: ({ last_day }) => formatShare(last_day.failed, last_day.requests),
        }),
        usdColumn<OperatorModelRecord>(t('Spent'), ({ last_day }) => last_day.spent_usd, {
          sortBy: ({ last_day }) => Number(last_day.spent_usd),
        }),
      ]}
    />
  );
}
