// The calculation of a charge: tokens times price per bucket, rounded once.

import type { CalculationRecord } from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { ChargeTable, chargeTotal } from '../../ui/charge-table.tsx';
import { Card } from '../../ui/parts.tsx';

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
          <ChargeTable {...each} />
          <div class="table-foot">
            <span class="soft">
              {t('Price {priceVersion}', { priceVersion: each.price_version })}
            </span>
            <span>{chargeTotal(each)}</span>
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
