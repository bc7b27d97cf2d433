// Says in a dialog which amounts wait for a second operator, if any do.

import type { ApprovalListRecord } from '../../dashboard/records/operator-lists.ts';
import { t } from '../text/t.ts';
import { amountText } from '../ui/amount-text.ts';
import { useResource } from '../ui/resource.ts';

export function SecondOperator() {
  const above = useResource<ApprovalListRecord>('/approvals?limit=1').data.value?.above;
  if (!above) return null;
  return (
    <p class="soft small">
      {t('More than {amount} waits for a second operator.', {
        amount: amountText({ tokens: above }),
      })}
    </p>
  );
}
