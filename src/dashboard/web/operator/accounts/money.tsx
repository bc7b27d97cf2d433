// Adjusts a balance: a payment, a grant or a correction. The id is created when the dialog opens, so
// that retries book it once.

import { useState } from 'preact/hooks';
import type { MovedRecord, OperatorAccountRecord } from '../../../records/operator-account.ts';
import {
  FormDialog,
  fieldError,
  formatTokens,
  post,
  Segments,
  TextField,
  toast,
  useAction,
} from '../../ui/index.ts';
import { addAmounts, plainAmount } from './decimal.ts';

type Kind = MovedRecord['kind'];

const KINDS = [
  { id: 'credit', label: 'Credit' },
  { id: 'grant', label: 'Grant' },
  { id: 'adjustment', label: 'Adjust' },
] as const;

const WORDS: Readonly<Record<Kind, { readonly what: string; readonly submit: string }>> = {
  credit: {
    what: 'A payment by the customer. Counts as income.',
    submit: 'Credit',
  },
  grant: {
    what: 'A gift to the customer. Counts as promotion, not as income.',
    submit: 'Grant',
  },
  adjustment: {
    what: 'A correction, such as a refund. Enter −12.5 to subtract 12.5. It can’t exceed the available balance.',
    submit: 'Adjust by',
  },
};

export function MoneyDialog({
  account,
  onDone,
  onClose,
}: {
  readonly account: OperatorAccountRecord;
  readonly onDone: () => unknown;
  readonly onClose: () => void;
}) {
  const [id] = useState(() => crypto.randomUUID());
  const [kind, setKind] = useState<Kind>('credit');
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const amount = plainAmount(typed);
  const { available } = account.balance;
  const after = addAmounts(available, amount);
  const action = useAction(async () => {
    const moved = await post<MovedRecord>(`/accounts/${account.id}/movements`, {
      id,
      kind,
      amount,
      reason,
    });
    toast(
      moved.applied
        ? `Balance updated: ${formatTokens(moved.account.balance.available)} service tokens available.`
        : 'Already booked. Nothing was changed.',
    );
    await onDone();
    onClose();
  });
  return (
    <FormDialog
      title="Adjust balance"
      action={action}
      fields={['amount', 'reason']}
      submit={`${WORDS[kind].submit}${after === undefined ? '' : ` ${formatTokens(amount)}`}`}
      onClose={onClose}
    >
      <div class="field">
        <Segments label="Kind" choices={KINDS} active={kind} onChange={setKind} />
        <p class="soft small">{WORDS[kind].what}</p>
      </div>
      <TextField
        label="Amount"
        hint={
          after === undefined
            ? `In service tokens. Available: ${formatTokens(available)}.`
            : `Available: ${formatTokens(available)} now, ${formatTokens(after)} afterwards.`
        }
        error={fieldError(action, 'amount')}
        inputMode="decimal"
        required
        value={typed}
        onInput={setTyped}
      />
      <TextField
        label="Reason"
        hint="Such as an invoice or a ticket. Kept in the ledger permanently. Not visible to the customer."
        error={fieldError(action, 'reason')}
        required
        maxLength={500}
        value={reason}
        onInput={setReason}
      />
      <p class="soft small">
        Booked at once with a receipt for {account.email}. Entries can't be changed; use an
        adjustment to reverse one.
      </p>
    </FormDialog>
  );
}
