// Revenue, cost, margin and loss per model, and the accuracy of its prompt estimates.

import type { MoneyRecord } from '../../../dashboard/records/operator-money.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { numberColumn } from '../../ui/common-columns.tsx';
import { formatChange, formatShare } from '../../ui/format.ts';
import { Card, Empty } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { Nothing } from '../../ui/text.tsx';

type Row = MoneyRecord['models'][number];

export function ModelsMoney({ models }: Pick<MoneyRecord, 'models'>) {
  return (
    <Card title={t('By model')} flush>
      <Table
        caption={t('Money by model')}
        rows={models}
        empty={<Empty title={t('No requests')}>{t('No requests in this period.')}</Empty>}
        rowKey={({ model }) => model}
        href={({ model }) => `/models/${model}`}
        columns={[
          { label: t('Model'), show: ({ model }) => model, sortBy: ({ model }) => model },
          numberColumn<Row>(t('Requests'), ({ requests }) => requests),
          numberColumn<Row>(t('Failed'), ({ failed }) => failed, {
            show: ({ failed, requests }) => formatShare(failed, requests),
          }),
          amount(t('Spent'), 'spent_usd'),
          costed(t('Cost'), 'cost_usd', t('Unknown')),
          costed(t('Margin'), 'margin_usd', t('Unknown cost')),
          amount(t('Loss'), 'loss_usd'),
          {
            label: t('Prompt estimate'),
            card: 'detail',
            end: true,
            show: (row) => estimate(row),
          },
        ]}
      />
    </Card>
  );
}

function amount(label: string, field: 'spent_usd' | 'loss_usd') {
  return {
    label,
    card: field === 'spent_usd' ? ('value' as const) : ('detail' as const),
    end: true,
    show: (row: Row) => <Amount usd={row[field]} />,
    sortBy: (row: Row) => Number(row[field]),
  };
}

/** `unknown` stands where no request has a known cost. */
function costed(label: string, field: 'cost_usd' | 'margin_usd', unknown: string) {
  return {
    label,
    end: true,
    show: (row: Row) =>
      row.uncosted === row.requests ? <Nothing>{unknown}</Nothing> : <Amount usd={row[field]} />,
    sortBy: (row: Row) => Number(row[field]),
  };
}

/** The deviation of the estimates from the counted tokens, over all requests of the model. */
function estimate({ estimated_input_tokens: estimated, input_tokens: counted }: Row): string {
  return counted === 0 ? '–' : formatChange(estimated, counted);
}
