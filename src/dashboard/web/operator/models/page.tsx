// The models for sale: state, price, and sales of the last day.

import type {
  OperatorModelRecord,
  OperatorModelsRecord,
} from '../../../records/operator-catalog.ts';
import {
  Alert,
  Badge,
  Button,
  Card,
  Empty,
  formatCount,
  formatShare,
  Loaded,
  Page,
  remove,
  StateBadge,
  Table,
  toast,
  Usd,
  useAction,
  useResource,
} from '../../ui/index.ts';
import { useRefresh } from '../refresh.ts';

export function ModelsPage() {
  const models = useResource<OperatorModelsRecord>('/models');
  useRefresh(models.reload, 15_000);
  return (
    <Page title="Models" lead="Models in the catalog. Current prices in USD per 1M tokens.">
      <Loaded resource={models}>
        {({ models: rows, forgotten }) => (
          <>
            {forgotten.map(({ model }) => (
              <Forgotten key={model} model={model} reload={models.reload} />
            ))}
            <Card flush>
              <ModelsTable rows={rows} />
              {rows.length === 0 && (
                <Empty title="No models">The catalog contains no models.</Empty>
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
      caption="Models"
      rows={rows}
      rowKey={({ id }) => id}
      href={({ id }) => `/models/${id}`}
      columns={[
        { label: 'Model', show: ({ id }) => id, sortBy: ({ id }) => id },
        {
          label: 'State',
          show: ({ state, incident }) => (
            <span class="row">
              <StateBadge state={state} />
              {incident && <Badge tone="warning">Lower limits</Badge>}
            </span>
          ),
        },
        { label: 'Input', end: true, show: ({ price }) => <Usd amount={price.input} /> },
        { label: 'Output', end: true, show: ({ price }) => <Usd amount={price.output} /> },
        {
          label: 'Upstreams',
          end: true,
          show: ({ placements }) => formatCount(placements.length),
        },
        {
          label: 'Requests (24 h)',
          end: true,
          show: ({ last_day }) => formatCount(last_day.requests),
          sortBy: ({ last_day }) => last_day.requests,
        },
        {
          label: 'Failed',
          end: true,
          show: ({ last_day }) => formatShare(last_day.failed, last_day.requests),
          sortBy: ({ last_day }) => last_day.failed,
        },
        {
          label: 'Spent',
          end: true,
          show: ({ last_day }) => <Usd amount={last_day.spent_usd} short />,
          sortBy: ({ last_day }) => Number(last_day.spent_usd),
        },
      ]}
    />
  );
}

function Forgotten({
  model,
  reload,
}: {
  readonly model: string;
  readonly reload: () => Promise<void>;
}) {
  const clear = useAction(async () => {
    await remove(`/models/${model}/incident`);
    toast('Lower limits removed.');
    await reload();
  });
  return (
    <Alert
      tone="warning"
      actions={
        <Button size="small" busy={clear.busy.value} onClick={() => void clear.run()}>
          Remove limits
        </Button>
      }
    >
      {model} has lower limits, but is no longer in the catalog.
    </Alert>
  );
}
