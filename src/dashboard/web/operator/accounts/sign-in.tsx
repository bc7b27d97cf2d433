// What concerns how the owner of an account signs in: an address that is vouched for, and a second
// factor that was lost.

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
      title="Take the address for verified?"
      confirm="Take it for verified"
      consequences={[
        <>
          You vouch that <strong>{account.email}</strong> belongs to the owner of this account.
        </>,
        'Its requests are no longer refused with 403 email_not_verified.',
      ]}
      act={async () => {
        await post(`/accounts/${account.id}/verify`);
        toast('The address is taken for verified.');
        await onDone();
      }}
      onClose={onClose}
    />
  );
}

export function DropFactorDialog({ account, onDone, onClose }: Props) {
  return (
    <ConfirmDialog
      title="Turn off the second factor?"
      danger
      confirm="Turn it off"
      consequences={[
        <>
          Whoever has the password of <strong>{account.email}</strong> signs in without a code from
          now on.
        </>,
        'Do it only for somebody whom you have recognised by other means than their mailbox.',
        'All of its sessions end, and its recovery codes are void.',
        'Its owner can turn on a second factor again.',
      ]}
      act={async () => {
        await remove(`/accounts/${account.id}/second-factor`);
        toast('The second factor is off.');
        await onDone();
      }}
      onClose={onClose}
    />
  );
}
