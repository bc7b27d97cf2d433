// Revenue, cost, margin and loss per model, and the accuracy of its prompt estimates.

import type { MoneyRecord } from '../../../records/operator-catalog.ts';
import { Card, Empty, formatCount, formatShare, Nothing, Table, Usd } from '../../ui/index.ts';

type Row = MoneyRecord['models'][number];

export function ModelsMoney({ models }: Pick<MoneyRecord, 'models'>) {
  return (
    <Card title="By model" flush>
      {models.length === 0 ? (
        <Empty title="No requests">No requests in this period.</Empty>
      ) : (
        <Table
          caption="Money by model"
          rows={models}
          rowKey={({ model }) => model}
          href={({ model }) => `/models/${model}`}
          columns={[
            { label: 'Model', show: ({ model }) => model, sortBy: ({ model }) => model },
            {
              label: 'Requests',
              end: true,
              show: ({ requests }) => formatCount(requests),
              sortBy: ({ requests }) => requests,
            },
            {
              label: 'Failed',
              end: true,
              show: ({ failed, requests }) => formatShare(failed, requests),
              sortBy: ({ failed }) => failed,
            },
            amount('Spent', 'spent_usd'),
            {
              label: 'Cost',
              end: true,
              show: (row) =>
                row.uncosted === row.requests ? (
                  <Nothing>Unknown</Nothing>
                ) : (
                  <Usd amount={row.cost_usd} short />
                ),
              sortBy: ({ cost_usd }) => Number(cost_usd),
            },
            {
              label: 'Margin',
              end: true,
              show: (row) =>
                row.uncosted === row.requests ? (
                  <Nothing>Unknown cost</Nothing>
                ) : (
                  <Usd amount={row.margin_usd} short />
                ),
              sortBy: ({ margin_usd }) => Number(margin_usd),
            },
            amount('Loss', 'loss_usd'),
            {
              label: 'Prompt estimate',
              end: true,
              show: (row) => estimate(row),
            },
          ]}
        />
      )}
    </Card>
  );
}

function amount(label: string, field: 'spent_usd' | 'loss_usd') {
  return {
    label,
    end: true,
    show: (row: Row) => <Usd amount={row[field]} short />,
    sortBy: (row: Row) => Number(row[field]),
  };
}

/** The deviation of the estimates from the counted tokens, over all requests of the model. */
function estimate({ estimated_input_tokens: estimated, input_tokens: counted }: Row): string {
  if (counted === 0) return '–';
  const percent = ((estimated - counted) / counted) * 100;
  const sign = percent > 0 ? '+' : percent < 0 ? '−' : '±';
  return `${sign}${Math.abs(percent).toFixed(1)} %`;
}
