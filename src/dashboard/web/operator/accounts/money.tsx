// Moves money: what a customer has paid, what is given away, a correction. The id of the movement is
// made when the dialog opens, so that however often it is sent, it is booked once.

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
    what: 'What the customer has paid. It counts as money that came in.',
    submit: 'Credit',
  },
  grant: {
    what: 'What you give away. It counts as promotion, not as money that came in.',
    submit: 'Grant',
  },
  adjustment: {
    what: 'A correction, up or down, such as a refund: write −12.5 to take away. It never takes more than what is available.',
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
        ? `Done: ${formatTokens(moved.account.balance.available)} service tokens are available now.`
        : 'This was booked before; nothing has changed now.',
    );
    await onDone();
    onClose();
  });
  return (
    <FormDialog
      title="Add or take money"
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
            ? `In service tokens. ${formatTokens(available)} are available.`
            : `${formatTokens(available)} are available; ${formatTokens(after)} after this.`
        }
        error={fieldError(action, 'amount')}
        inputMode="decimal"
        required
        value={typed}
        onInput={setTyped}
      />
      <TextField
        label="Reason"
        hint="Such as an invoice or a ticket. It stands in the books for good; the customer is not shown it."
        error={fieldError(action, 'reason')}
        required
        maxLength={500}
        value={reason}
        onInput={setReason}
      />
      <p class="soft small">
        It is booked at once, as a receipt of {account.email}. Nothing of it can be altered later;
        an adjustment takes it back.
      </p>
    </FormDialog>
  );
}
