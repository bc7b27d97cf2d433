// How an account stands: as badges, and the dialogs that change it, each saying what will happen.

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

const REFUSED = 'From now on its requests are refused with 403 account_inactive.';

const WORDS: Readonly<Record<StandingRecord, Words>> = {
  suspended: {
    title: 'Suspend this account?',
    confirm: 'Suspend the account',
    done: 'The account is suspended.',
    consequences: [
      REFUSED,
      'Answers that are under way go on to their end and are charged.',
      'Its owner can sign in and read, and change nothing.',
      'Balance and keys stay as they are; you can activate it again at any time.',
    ],
  },
  pending_deletion: {
    title: 'Mark this account for deletion?',
    confirm: 'Mark for deletion',
    done: 'The account is marked for deletion.',
    consequences: [
      REFUSED,
      'What was kept of its thinking is removed at once and does not come back.',
      'Its books, receipts and keys are kept: the books are never deleted.',
      'You can take it back at any time.',
    ],
  },
  active: {
    title: 'Activate this account?',
    confirm: 'Activate the account',
    done: 'The account is active.',
    consequences: [
      'Its active keys work again, with its plan and its balance as they are.',
      'If its owner has asked for its deletion, that is taken back.',
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
          This is about <strong>{account.email}</strong>.
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
        hint="For the audit trail; its owner is not shown it."
        maxLength={500}
        value={reason}
        onInput={setReason}
      />
    </ConfirmDialog>
  );
}
