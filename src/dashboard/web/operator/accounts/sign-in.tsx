// Sign-in actions of an account: marks its address as verified, and turns off two-factor
// authentication that was lost.

import type { OperatorAccountRecord } from '../../../records/operator-account.ts';
import { ConfirmDialog, post, remove, toast } from '../../ui/index.ts';

type Props = {
  readonly account: OperatorAccountRecord;
  readonly onDone: () => unknown;
  readonly onClose: () => void;
};

export function VerifyDialog({ account, onDone, onClose }: Props) {
  return (
    <ConfirmDialog
      title="Mark the address as verified?"
      confirm="Mark as verified"
      consequences={[
        <>
          You confirm that <strong>{account.email}</strong> belongs to the owner of this account.
        </>,
        'Its requests are no longer rejected with 403 email_not_verified.',
      ]}
      act={async () => {
        await post(`/accounts/${account.id}/verify`);
        toast('Address marked as verified.');
        await onDone();
      }}
      onClose={onClose}
    />
  );
}

export function DropFactorDialog({ account, onDone, onClose }: Props) {
  return (
    <ConfirmDialog
      title="Turn off two-factor authentication?"
      danger
      confirm="Turn off"
      consequences={[
        <>
          <strong>{account.email}</strong> can sign in with the password alone.
        </>,
        'Do this only after you verified the owner’s identity by other means than their mailbox.',
        'All its sessions end, and its recovery codes stop working.',
        'The owner can turn it on again.',
      ]}
      act={async () => {
        await remove(`/accounts/${account.id}/second-factor`);
        toast('Two-factor authentication is off.');
        await onDone();
      }}
      onClose={onClose}
    />
  );
}
