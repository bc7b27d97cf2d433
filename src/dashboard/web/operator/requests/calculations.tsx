// The calculation of a charge: tokens times price per bucket, rounded once.

import type { CalculationRecord } from '../../../records/customer-request.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount, Card, formatCount, labelOf, Table } from '../../ui/index.ts';

export function Calculations({
  calculations,
}: {
  readonly calculations: readonly CalculationRecord[];
}) {
  return (
    <>
      {calculations.map((each) => (
        <Card
          key={each.price_version}
          flush
          title={t('Charge at the price of {model}{usedFor}', {
            model: each.model,
            usedFor: calculations.length > 1 ? ROLES[each.used_for] : '',
          })}
        >
          <Table
            caption={t('Charge at the price of {model}', { model: each.model })}
            rows={each.buckets}
            rowKey={({ name }) => name}
            columns={[
              { label: t('Type'), show: ({ name }) => labelOf(name) },
              { label: t('Tokens'), end: true, show: ({ tokens }) => formatCount(tokens) },
              {
                label: t('Unit price'),
                end: true,
                show: ({ price }) => <Amount tokens={price} detail="exact" />,
              },
              {
                label: t('Amount'),
                end: true,
                show: ({ amount }) => <Amount tokens={amount} detail="exact" />,
              },
            ]}
          />
          <div class="table-foot">
            <span class="soft">
              {t('Price {priceVersion}', { priceVersion: each.price_version })}
            </span>
            <span>
              {rich('Total {exact}, rounded to {rounded}', {
                exact: <Amount tokens={each.exact} detail="exact" />,
                rounded: <Amount tokens={each.rounded} detail="exact" />,
              })}
            </span>
          </div>
        </Card>
      ))}
      {calculations.length > 1 && (
        <p class="soft">{t('A fallback answered, so the lower charge applies.')}</p>
      )}
    </>
  );
}

const ROLES: Readonly<Record<CalculationRecord['used_for'], string>> = {
  requested: t(' (requested)'),
  served: t(' (served)'),
};
