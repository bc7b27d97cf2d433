// Redemption codes: each adds its service tokens once, to the customer who redeems it.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { CodeRecord, CreatedCodesRecord } from '../../records/operator-lists.ts';
import {
  Collection,
  ConfirmDialog,
  type DialogProps,
  FormDialog,
  fieldError,
  formatTokens,
  post,
  type RowAction,
  StateBadge,
  TextField,
  Time,
  Tokens,
  type Tone,
  toast,
  useAction,
} from '../ui/index.ts';
import { plainAmount } from './accounts/decimal.ts';
import { ShownOnceDialog } from './shown-once.tsx';
import { expiryOf, FOR_GOOD, UntilField } from './until.tsx';

const TONES: Readonly<Record<CodeRecord['status'], Tone>> = {
  open: 'accent',
  redeemed: 'good',
  revoked: 'neutral',
  expired: 'neutral',
};

const REVOKE: RowAction<CodeRecord, CreatedCodesRecord> = {
  label: 'Revoke',
  called: ({ id }) => `the code ${id}`,
  danger: true,
  isOffered: ({ status }) => status === 'open',
  dialog: ({ id, masked, amount }, { onDone, onClose }) => (
    <ConfirmDialog
      title="Revoke this code?"
      danger
      confirm="Revoke code"
      consequences={[
        <>
          <strong>{masked}</strong>, worth {formatTokens(amount)} service tokens, can no longer be
          redeemed.
        </>,
        'This can’t be undone. You can create another code.',
      ]}
      act={async () => {
        await post(`/codes/${id}/revoke`);
        toast('Code revoked.');
        await onDone();
      }}
      onClose={onClose}
    />
  ),
};

export function CodesPage() {
  return (
    <Collection<CodeRecord, CreatedCodesRecord>
      title="Redemption codes"
      lead="Each code can be redeemed once on the dashboard. A code is shown only when you create it."
      path="/codes"
      empty={{
        title: 'No codes yet',
        text: 'Create codes for an event, or to sell balance in your own shop.',
      }}
      columns={[
        {
          label: 'Code',
          show: ({ id, masked }) => (
            <>
              <code>{masked}</code>
              <div class="soft small">{id}</div>
            </>
          ),
        },
        { label: 'Status', show: (code) => <Status code={code} /> },
        { label: 'Amount', end: true, show: ({ amount }) => <Tokens amount={amount} /> },
        { label: 'Reason', wrap: true, show: ({ reason }) => reason },
        { label: 'Created', show: ({ created_at }) => <Time at={created_at} detail="day" /> },
        { label: 'Expires', show: ({ expires_at }) => <Time relative at={expires_at} /> },
      ]}
      actions={[REVOKE]}
      create={{ label: 'New codes', dialog: (dialog) => <CreateCodesDialog {...dialog} /> }}
      shown={({ data }, onClose) => (
        <ShownOnceDialog
          title={data.length === 1 ? 'New code' : `${data.length} new codes`}
          label="the codes"
          lines={data.map(({ code }) => code)}
          onClose={onClose}
        >
          Each adds {formatTokens(data[0]?.amount ?? '0')} service tokens for the first customer who
          redeems it.
        </ShownOnceDialog>
      )}
    />
  );
}

function Status({ code }: { readonly code: CodeRecord }) {
  const { status, redeemed_at, redeemed_by } = code;
  return (
    <>
      <StateBadge state={status} tone={TONES[status]} />
      {redeemed_by !== null && (
        <div class="small">
          <Link href={`/accounts/${redeemed_by}`}>
            <Time relative at={redeemed_at} />
            <span class="sr-only"> by the account {redeemed_by}</span>
          </Link>
        </div>
      )}
    </>
  );
}

function CreateCodesDialog({ onShown, onClose }: DialogProps<CreatedCodesRecord>) {
  const [amount, setAmount] = useState('');
  const [count, setCount] = useState('1');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const action = useAction(async () => {
    const body = { amount: plainAmount(amount), count: Number(count), reason };
    onShown(await post<CreatedCodesRecord>('/codes', { ...body, ...expiryOf(until) }));
  });
  return (
    <FormDialog
      title="New codes"
      action={action}
      fields={['amount', 'count', 'reason', 'expires_at']}
      submit={count === '1' ? 'Create code' : `Create ${count} codes`}
      onClose={onClose}
    >
      <div class="fields">
        <TextField
          label="Amount per code"
          hint="In service tokens"
          inputMode="decimal"
          required
          value={amount}
          onInput={setAmount}
          error={fieldError(action, 'amount')}
        />
        <TextField
          label="Number of codes"
          type="number"
          min={1}
          max={10_000}
          step={1}
          required
          value={count}
          onInput={setCount}
          error={fieldError(action, 'count')}
        />
      </div>
      <TextField
        label="Reason"
        hint="For the ledger, such as the name of the event."
        required
        maxLength={500}
        value={reason}
        onInput={setReason}
        error={fieldError(action, 'reason')}
      />
      <UntilField
        label="Expires"
        forGood="Never"
        until={until}
        onChange={setUntil}
        error={fieldError(action, 'expires_at')}
      />
    </FormDialog>
  );
}
