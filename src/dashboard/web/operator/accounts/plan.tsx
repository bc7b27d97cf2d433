// The plans of the catalog, and the dialog that puts an account on another one.

import { useState } from 'preact/hooks';
import type { OperatorAccountRecord, PlanRecord } from '../../../records/operator-account.ts';
import {
  ConfirmDialog,
  post,
  SelectField,
  type SelectOption,
  toast,
  useResource,
} from '../../ui/index.ts';

/** Empty until they have come. */
export function usePlans(): readonly SelectOption[] {
  const { data } = useResource<{ readonly data: readonly PlanRecord[] }>('/plans');
  return (data.value?.data ?? []).map(({ slug, name }) => ({ value: slug, label: name }));
}

export function PlanDialog({
  account,
  onDone,
  onClose,
}: {
  readonly account: OperatorAccountRecord;
  readonly onDone: () => unknown;
  readonly onClose: () => void;
}) {
  const plans = usePlans();
  const [plan, setPlan] = useState(account.plan.slug);
  const name = plans.find(({ value }) => value === plan)?.label ?? plan;
  return (
    <ConfirmDialog
      title="Change the plan"
      confirm={plan === account.plan.slug ? 'Keep the plan' : `Change to ${name}`}
      consequences={[
        <>
          <strong>{account.email}</strong> is on the plan {account.plan.name}.
        </>,
        'Limits and models of the new plan hold from the next request on; the windows go on.',
        'Where it allows fewer keys than are active, these go on working, and no new one can be made.',
      ]}
      act={async () => {
        if (plan === account.plan.slug) return;
        await post(`/accounts/${account.id}/plan`, { plan });
        toast(`${account.email} is on the plan ${name}.`);
        await onDone();
      }}
      onClose={onClose}
    >
      <SelectField label="Plan" options={plans} value={plan} onChange={setPlan} />
    </ConfirmDialog>
  );
}
