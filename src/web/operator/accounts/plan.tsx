// The plans of the catalog, and the dialog that changes the plan of an account.

import { useState } from 'preact/hooks';
import type { PlanRecord } from '../../../dashboard/records/operator-account.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { SelectField, type SelectOption } from '../../ui/field.tsx';
import { useResource } from '../../ui/resource.ts';
import { toast } from '../../ui/toast.tsx';
import type { AccountDialogProps } from './action.ts';

/** Empty until loaded. */
export function usePlans(): readonly SelectOption[] {
  const { data } = useResource<{ readonly data: readonly PlanRecord[] }>('/plan-names');
  return (data.value?.data ?? []).map(({ slug, name }) => ({ value: slug, label: name }));
}

export function PlanDialog({ account, onDone, onClose }: AccountDialogProps) {
  const plans = usePlans();
  const [plan, setPlan] = useState(account.plan.slug);
  const name = plans.find(({ value }) => value === plan)?.label ?? plan;
  return (
    <ConfirmDialog
      title={t('Change plan')}
      confirm={plan === account.plan.slug ? t('Keep plan') : t('Change to {name}', { name })}
      consequences={[
        rich('{email} is on the plan {name}.', {
          email: <strong>{account.email}</strong>,
          name: account.plan.name,
        }),
        t(
          'Limits and models of the new plan apply from the next request. Current windows continue.',
        ),
        t(
          'If more keys are active than the plan allows, they keep working, but no new key can be created.',
        ),
      ]}
      act={async () => {
        if (plan === account.plan.slug) return;
        await post(`/accounts/${account.id}/plan`, { plan });
        toast(t('{email} is now on the plan {name}.', { email: account.email, name }));
        await onDone();
      }}
      onClose={onClose}
    >
      <SelectField label={t('Plan')} options={plans} value={plan} onChange={setPlan} />
    </ConfirmDialog>
  );
}
