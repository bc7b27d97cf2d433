// Redemption codes: each adds its amount once, to the customer who redeems it.

import { useState } from 'preact/hooks';
import type {
  ApprovalRecord,
  CodeRecord,
  CreatedCodesRecord,
} from '../../dashboard/records/operator-lists.ts';
import { rich } from '../text/rich.ts';
import { t } from '../text/t.ts';
import { AmountField, useAmountInput } from '../ui/amount-field.tsx';
import { amountText } from '../ui/amount-text.ts';
import { post } from '../ui/api.ts';
import { Collection, type DialogProps } from '../ui/collection.tsx';
import { amountColumn, timeColumn } from '../ui/common-columns.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { fieldError, TextField } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { useAction } from '../ui/resource.ts';
import { ShownOnceDialog } from '../ui/shown-once.tsx';
import { useSort } from '../ui/table-sort.ts';
import { StateBadge, Time } from '../ui/text.tsx';
import { toast } from '../ui/toast.tsx';
import { expiryOf, FOR_GOOD, UntilField } from '../ui/until-field.tsx';
import { revokeAction } from './revoke.tsx';
import { SecondOperator } from './second-operator.tsx';

const REVOKE = revokeAction<CodeRecord, CreatedCodesRecord>({
  path: '/codes',
  needs: 'money.move',
  called: ({ id }) => t('the code {id}', { id }),
  isOffered: ({ status }) => status === 'open',
  title: () => t('Revoke this code?'),
  confirm: t('Revoke code'),
  consequences: ({ masked, amount }) => [
    rich('{masked}, worth {amount}, can no longer be redeemed.', {
      masked: <strong>{masked}</strong>,
      amount: amountText({ tokens: amount }),
    }),
    t('This can’t be undone. You can create another code.'),
  ],
  done: t('Code revoked.'),
});

export function View() {
  const sort = useSort(['created', 'amount', 'expires'], '-created');
  return (
    <Collection<CodeRecord, CreatedCodesRecord>
      title={t('Redemption codes')}
      lead={t(
        'Each code can be redeemed once on the dashboard. A code is shown only when you create it.',
      )}
      path="/codes"
      name="codes"
      sort={sort}
      empty={{
        title: t('No codes yet'),
        text: t('Create codes for an event, or to sell balance in your own shop.'),
      }}
      columns={[
        {
          label: t('Code'),
          show: ({ id, masked }) => (
            <>
              <code>{masked}</code>
              <div class="soft small">{id}</div>
            </>
          ),
        },
        { label: t('Status'), card: 'state', show: (code) => <Status code={code} /> },
        amountColumn(t('Amount'), 'amount', { sort: 'amount' }),
        { label: t('Reason'), wrap: true, show: ({ reason }) => reason },
        timeColumn(t('Created'), 'created_at', { sort: 'created', card: 'hidden', detail: 'day' }),
        timeColumn(t('Expires'), 'expires_at', { sort: 'expires', relative: true }),
      ]}
      actions={[REVOKE]}
      create={{
        label: t('New codes'),
        needs: 'money.move',
        dialog: (dialog) => <CreateCodesDialog {...dialog} />,
      }}
      shown={({ data }, onClose) => (
        <ShownOnceDialog
          title={data.length === 1 ? t('New code') : t('{data} new codes', { data: data.length })}
          label={t('the codes')}
          lines={data.map(({ code }) => code)}
          onClose={onClose}
        >
          {t('Each adds {amount} for the first customer who redeems it.', {
            amount: amountText({ tokens: data[0]?.amount ?? '0' }),
          })}
        </ShownOnceDialog>
      )}
    />
  );
}

function Status({ code }: { readonly code: CodeRecord }) {
  const { status, redeemed_at, redeemed_by } = code;
  return (
    <>
      <StateBadge state={status} />
      {redeemed_by !== null && (
        <div class="small">
          <Link href={`/accounts/${redeemed_by}`}>
            <Time relative at={redeemed_at} />{' '}
            <span class="sr-only">
              {t('by the account {redeemedBy}', { redeemedBy: redeemed_by })}
            </span>
          </Link>
        </div>
      )}
    </>
  );
}

function CreateCodesDialog({ onShown, onClose }: DialogProps<CreatedCodesRecord>) {
  const amount = useAmountInput();
  const [count, setCount] = useState('1');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const action = useAction(async () => {
    const body = { amount: amount.tokens, count: Number(count), reason };
    const made = await post<CreatedCodesRecord | ApprovalRecord>('/codes', {
      ...body,
      ...expiryOf(until),
    });
    if (made.object === 'list') return onShown(made);
    toast(t('Pending approval by a second operator.'));
    onClose();
  });
  return (
    <FormDialog
      title={t('New codes')}
      action={action}
      fields={['amount', 'count', 'reason', 'expires_at']}
      submit={count === '1' ? t('Create code') : t('Create {count} codes', { count })}
      onClose={onClose}
    >
      <div class="fields">
        <AmountField label={t('Amount per code')} amount={amount} action={action} />
        <TextField
          label={t('Number of codes')}
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
        label={t('Reason')}
        hint={t('For the ledger, such as the name of the event.')}
        required
        maxLength={500}
        value={reason}
        onInput={setReason}
        error={fieldError(action, 'reason')}
      />
      <UntilField until={until} onChange={setUntil} action={action} />
      <SecondOperator />
    </FormDialog>
  );
}
