// The status of an account as badges, and the dialogs that change it, each stating the consequences.

import { useState } from 'preact/hooks';
import type { OperatorAccountRecord, StandingRecord } from '../../../records/operator-account.ts';
import { Badge, ConfirmDialog, post, StateBadge, TextField, toast } from '../../ui/index.ts';

export function AccountBadges({ account }: { readonly account: OperatorAccountRecord }) {
  return (
    <span class="row">
      {account.blocked && <StateBadge state="blocked" />}
      {!(account.blocked && account.standing === 'active') && (
        <StateBadge state={account.standing} />
      )}
      {!account.email_verified && <Badge tone="warning">Unverified</Badge>}
    </span>
  );
}

type Words = {
  readonly title: string;
  readonly confirm: string;
  readonly done: string;
  readonly consequences: readonly string[];
};

const REFUSED = 'All its requests are rejected with 403 account_inactive.';

const WORDS: Readonly<Record<StandingRecord, Words>> = {
  suspended: {
    title: 'Suspend this account?',
    confirm: 'Suspend account',
    done: 'Account suspended.',
    consequences: [
      REFUSED,
      'Requests in progress finish normally and are charged.',
      'The owner can sign in and read, but not change anything.',
      'Balance and keys are kept. You can activate the account at any time.',
    ],
  },
  pending_deletion: {
    title: 'Mark this account for deletion?',
    confirm: 'Mark for deletion',
    done: 'Account marked for deletion.',
    consequences: [
      REFUSED,
      'Its stored reasoning is deleted at once and can’t be restored.',
      'Ledger entries, receipts and keys are kept.',
      'You can cancel this at any time.',
    ],
  },
  active: {
    title: 'Activate this account?',
    confirm: 'Activate account',
    done: 'Account activated.',
    consequences: [
      'Its active keys work again. Plan and balance are unchanged.',
      'If the owner requested deletion, the deletion is cancelled.',
    ],
  },
};

export function StandingDialog({
  account,
  standing,
  onDone,
  onClose,
}: {
  readonly account: OperatorAccountRecord;
  readonly standing: StandingRecord;
  readonly onDone: () => unknown;
  readonly onClose: () => void;
}) {
  const [reason, setReason] = useState('');
  const { title, confirm, done, consequences } = WORDS[standing];
  return (
    <ConfirmDialog
      title={title}
      confirm={confirm}
      danger={standing !== 'active'}
      {...(standing === 'pending_deletion' ? { typed: account.email } : {})}
      consequences={[
        <>
          Account: <strong>{account.email}</strong>
        </>,
        ...consequences,
      ]}
      act={async () => {
        await post(`/accounts/${account.id}/standing`, { standing, reason });
        toast(done);
        await onDone();
      }}
      onClose={onClose}
    >
      <TextField
        label="Reason"
        hint="For the audit trail. Not visible to the owner."
        maxLength={500}
        value={reason}
        onInput={setReason}
      />
    </ConfirmDialog>
  );
}
