// The calculation of a charge: tokens times price per bucket, rounded once.

import type { CalculationRecord } from '../../../records/customer-request.ts';
import { Card, formatCount, humanize, Table, Tokens } from '../../ui/index.ts';

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
          title={`Charge at the price of ${each.model}${calculations.length > 1 ? ROLES[each.used_for] : ''}`}
        >
          <Table
            caption={`Charge at the price of ${each.model}`}
            rows={each.buckets}
            rowKey={({ name }) => name}
            columns={[
              { label: 'Type', show: ({ name }) => humanize(name) },
              { label: 'Tokens', end: true, show: ({ tokens }) => formatCount(tokens) },
              {
                label: 'Unit price',
                end: true,
                show: ({ price }) => <Tokens amount={price} />,
              },
              { label: 'Amount', end: true, show: ({ amount }) => <Tokens amount={amount} /> },
            ]}
          />
          <div class="table-foot">
            <span class="soft">Price {each.price_version}</span>
            <span>
              Total <Tokens amount={each.exact} />, rounded to <Tokens amount={each.rounded} />
            </span>
          </div>
        </Card>
      ))}
      {calculations.length > 1 && (
        <p class="soft">A fallback answered, so the lower charge applies.</p>
      )}
    </>
  );
}

const ROLES: Readonly<Record<CalculationRecord['used_for'], string>> = {
  requested: ' (requested)',
  served: ' (served)',
};
