// Adjusts a balance: a payment, a grant or a correction. The id is created when the dialog opens, so
// that retries book it once.

import { useState } from 'preact/hooks';
import type { MovedRecord } from '../../../dashboard/records/operator-account.ts';
import type { ApprovalRecord } from '../../../dashboard/records/operator-lists.ts';
import { t } from '../../text/t.ts';
import { AmountField, useAmountInput } from '../../ui/amount-field.tsx';
import { amountText } from '../../ui/amount-text.ts';
import { post } from '../../ui/api.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { fieldError, TextField } from '../../ui/field.tsx';
import { addAmounts } from '../../ui/money.ts';
import { useAction } from '../../ui/resource.ts';
import { Segments } from '../../ui/tabs.tsx';
import { toast } from '../../ui/toast.tsx';
import { SecondOperator } from '../second-operator.tsx';
import type { AccountDialogProps } from './action.ts';

type Kind = MovedRecord['kind'];

const KINDS = [
  { id: 'credit', label: t('Credit') },
  { id: 'grant', label: t('Grant') },
  { id: 'adjustment', label: t('Adjust') },
] as const;

const WORDS: Readonly<Record<Kind, string>> = {
  credit: t('A payment by the customer. Counts as income.'),
  grant: t('A gift to the customer. Counts as promotion, not as income.'),
  adjustment: t(
    'A correction, such as a refund. Enter −12.5 to subtract 12.5. It can’t exceed the available balance.',
  ),
};

function submitText(kind: Kind, tokens: string | undefined): string {
  if (tokens === undefined) return KINDS.find(({ id }) => id === kind)?.label ?? '';
  const amount = amountText({ tokens });
  if (kind === 'credit') return t('Credit {amount}', { amount });
  return kind === 'grant' ? t('Grant {amount}', { amount }) : t('Adjust by {amount}', { amount });
}

export function MoneyDialog({ account, onDone, onClose }: AccountDialogProps) {
  const [id] = useState(() => crypto.randomUUID());
  const [kind, setKind] = useState<Kind>('credit');
  const amount = useAmountInput();
  const [reason, setReason] = useState('');
  const { available } = account.balance;
  const after = addAmounts(available, amount.tokens ?? '');
  const action = useAction(async () => {
    const moved = await post<MovedRecord | ApprovalRecord>(`/accounts/${account.id}/movements`, {
      id,
      kind,
      amount: amount.tokens,
      reason,
    });
    toast(
      'state' in moved
        ? t('Pending approval by a second operator.')
        : moved.applied
          ? t('Balance updated: {available} available.', {
              available: amountText({ tokens: moved.account.balance.available }),
            })
          : t('Already booked. Nothing was changed.'),
    );
    await onDone();
    onClose();
  });
  return (
    <FormDialog
      title={t('Adjust balance')}
      action={action}
      fields={['amount', 'reason']}
      submit={submitText(kind, amount.tokens)}
      onClose={onClose}
    >
      <div class="field">
        <Segments label={t('Kind')} choices={KINDS} active={kind} onChange={setKind} />
        <p class="soft small">{WORDS[kind]}</p>
      </div>
      <AmountField
        label={t('Amount')}
        amount={amount}
        action={action}
        hint={
          after === undefined
            ? t('Available: {available}', { available: amountText({ tokens: available }) })
            : t('Available: {available} now, {after} afterwards', {
                available: amountText({ tokens: available }),
                after: amountText({ tokens: after }),
              })
        }
      />
      <TextField
        label={t('Reason')}
        hint={t(
          'Such as an invoice or a ticket. Kept in the ledger permanently. Not visible to the customer.',
        )}
        error={fieldError(action, 'reason')}
        required
        maxLength={500}
        value={reason}
        onInput={setReason}
      />
      <SecondOperator />
      <p class="soft small">
        {t(
          "Booked with a receipt for {email}. Entries can't be changed; use an adjustment to reverse one.",
          { email: account.email },
        )}
      </p>
    </FormDialog>
  );
}
