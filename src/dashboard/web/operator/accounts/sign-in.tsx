// Sign-in actions of an account: marks its address as verified, and turns off two-factor
// authentication that was lost.

import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { post, remove } from '../../ui/api.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import type { AccountDialogProps } from './action.ts';

export function VerifyDialog({ account, ...dialog }: AccountDialogProps) {
  return (
    <ConfirmDialog
      title={t('Mark the address as verified?')}
      confirm={t('Mark as verified')}
      consequences={[
        rich('You confirm that {email} belongs to the owner of this account.', {
          email: <strong>{account.email}</strong>,
        }),
        t('Its requests are no longer rejected with 403 email_not_verified.'),
      ]}
      act={() => post(`/accounts/${account.id}/verify`)}
      done={t('Address marked as verified.')}
      {...dialog}
    />
  );
}

export function DropFactorDialog({ account, ...dialog }: AccountDialogProps) {
  return (
    <ConfirmDialog
      title={t('Turn off two-factor authentication?')}
      danger
      confirm={t('Turn off')}
      consequences={[
        rich('{email} can sign in with the password alone.', {
          email: <strong>{account.email}</strong>,
        }),
        t(
          'Do this only after you verified the owner’s identity by other means than their mailbox.',
        ),
        t('All its sessions end, and its recovery codes stop working.'),
        t('The owner can turn it on again.'),
      ]}
      act={() => remove(`/accounts/${account.id}/second-factor`)}
      done={t('Two-factor authentication is off.')}
      {...dialog}
    />
  );
}
