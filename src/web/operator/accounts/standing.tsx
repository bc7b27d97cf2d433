// The status of an account as badges, and the dialogs that change it, each stating the consequences.

import { useState } from 'preact/hooks';
import type {
  OperatorAccountRecord,
  StandingRecord,
} from '../../../dashboard/records/operator-account.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Badge, StateBadge } from '../../ui/text.tsx';
import type { AccountDialogProps } from './action.ts';

export function AccountBadges({ account }: { readonly account: OperatorAccountRecord }) {
  const { standing, standing_without_block: other } = account;
  return (
    <span class="row">
      <StateBadge state={standing} />
      {standing === 'blocked' && other !== 'active' && <StateBadge state={other} />}
      {!account.email_verified && <Badge tone="warning">{t('Unverified')}</Badge>}
    </span>
  );
}

type Words = {
  readonly title: string;
  readonly confirm: string;
  readonly done: string;
  readonly consequences: readonly string[];
};

const REFUSED = t('All its requests are rejected with 403 account_inactive.');

const WORDS: Readonly<Record<StandingRecord, Words>> = {
  suspended: {
    title: t('Suspend this account?'),
    confirm: t('Suspend account'),
    done: t('Account suspended.'),
    consequences: [
      REFUSED,
      t('Requests in progress finish normally and are charged.'),
      t('The owner can sign in and read, but not change anything.'),
      t('Balance and keys are kept. You can activate the account at any time.'),
    ],
  },
  pending_deletion: {
    title: t('Mark this account for deletion?'),
    confirm: t('Mark for deletion'),
    done: t('Account marked for deletion.'),
    consequences: [
      REFUSED,
      t('Its stored reasoning is deleted at once and can’t be restored.'),
      t('Ledger entries, receipts and keys are kept.'),
      t('You can cancel this at any time.'),
    ],
  },
  active: {
    title: t('Activate this account?'),
    confirm: t('Activate account'),
    done: t('Account activated.'),
    consequences: [
      t('Its active keys work again. Plan and balance are unchanged.'),
      t('If the owner requested deletion, the deletion is cancelled.'),
    ],
  },
};

export function StandingDialog({
  account,
  standing,
  ...dialog
}: AccountDialogProps & { readonly standing: StandingRecord }) {
  const [reason, setReason] = useState('');
  const { title, confirm, done, consequences } = WORDS[standing];
  return (
    <ConfirmDialog
      title={title}
      confirm={confirm}
      danger={standing !== 'active'}
      {...(standing === 'pending_deletion' ? { typed: account.email } : {})}
      consequences={[
        rich('Account: {email}', { email: <strong>{account.email}</strong> }),
        ...consequences,
      ]}
      act={() => post(`/accounts/${account.id}/standing`, { standing, reason })}
      done={done}
      {...dialog}
    >
      <TextField
        label={t('Reason')}
        hint={t('For the audit trail. Not visible to the owner.')}
        maxLength={500}
        value={reason}
        onInput={setReason}
      />
    </ConfirmDialog>
  );
}
