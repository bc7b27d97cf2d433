// The calculation of a charge as a table: tokens times price per bucket, and the total.

import type { CalculationRecord } from '../../../dashboard/records/customer-request.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount, Price } from '../../ui/amount.tsx';
import { amountColumn, countColumn } from '../../ui/common-columns.tsx';
import { formatCount } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';
import { multiply } from '../../ui/money.ts';
import { Table } from '../../ui/table.tsx';

export function ChargeTable({ model, buckets }: Pick<CalculationRecord, 'model' | 'buckets'>) {
  return (
    <Table
      caption={t('Charge at the price of {model}', { model })}
      rows={buckets}
      rowKey={({ name }) => name}
      columns={[
        { label: t('Type'), show: ({ name }) => labelOf(name) },
        countColumn(t('Tokens'), 'tokens'),
        {
          label: t('Price per 1M tokens'),
          end: true,
          show: ({ price }) => <Price tokens={multiply(price, '1000000') ?? ''} />,
        },
        amountColumn(t('Amount'), 'amount', { detail: 'exact' }),
      ]}
    />
  );
}

/**
 * What decides the rates and the factor of the charge, then the exact total, and the rounded one that
 * is charged if it differs.
 */
export function chargeTotal(calculation: CalculationRecord) {
  return (
    <>
      {conditions(calculation).map((words) => (
        <div class="soft small" key={words}>
          {words}
        </div>
      ))}
      {totalWords(calculation)}
    </>
  );
}

function conditions({ tier_above_tokens: bound, service_tier: tier }: CalculationRecord): string[] {
  return [
    ...(bound === undefined
      ? []
      : [t('Rates for prompts above {tokens} tokens', { tokens: formatCount(bound) })]),
    ...(tier === undefined ? [] : [t('Service tier {name}: × {factor}', tier)]),
  ];
}

function totalWords({ exact, rounded }: Pick<CalculationRecord, 'exact' | 'rounded'>) {
  return exact === rounded
    ? rich('Total {exact}', { exact: <Amount tokens={exact} detail="exact" /> })
    : rich('Total {exact}, rounded to {rounded}', {
        exact: <Amount tokens={exact} detail="exact" />,
        rounded: <Amount tokens={rounded} detail="exact" />,
      });
}
