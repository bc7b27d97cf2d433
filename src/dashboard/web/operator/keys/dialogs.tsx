// Operator actions on an API key: revoke and rotate.

import { useState } from 'preact/hooks';
import type { KeyRecord, RotatedKeyRecord } from '../../../records/key.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import type { DialogProps } from '../../ui/collection.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { StateBadge, Time } from '../../ui/text.tsx';
import { ShownOnceDialog } from '../shown-once.tsx';

type Props = DialogProps<KeyShownOnce> & { readonly record: KeyRecord };

/** A key that is shown once, with a note for the operator. */
export type KeyShownOnce = {
  readonly title: string;
  readonly key: string;
  readonly about: string;
};

const REASONS = [
  { value: 'operator', label: t('Revoked by the operator') },
  { value: 'leak_report', label: t('Leaked') },
  { value: 'user', label: t('Requested by the owner') },
  { value: 'account_closed', label: t('Account closed') },
] as const;

const calledOf = ({ name, masked }: KeyRecord) => (name === null ? masked : `${name} (${masked})`);

export function KeyState({ record }: { readonly record: KeyRecord }) {
  const { status, revoked_at, revoked_reason, paused_at } = record;
  const reason = REASONS.find(({ value }) => value === revoked_reason)?.label ?? t('Rotated');
  return (
    <>
      <StateBadge state={status === 'active' && paused_at !== null ? 'paused' : status} />
      {revoked_at !== null && (
        <div class="soft small">
          {reason}, <Time relative at={revoked_at} />
        </div>
      )}
    </>
  );
}

export function ShownKeyDialog({
  shown: { title, key, about },
  onClose,
}: {
  readonly shown: KeyShownOnce;
  readonly onClose: () => void;
}) {
  return (
    <ShownOnceDialog title={title} label={t('the key')} lines={[key]} onClose={onClose}>
      {t('{about} Send it only to its owner.', { about })}
    </ShownOnceDialog>
  );
}

export function RevokeKeyDialog({ record, ...dialog }: Props) {
  const [reason, setReason] = useState<string>('operator');
  return (
    <ConfirmDialog
      title={t('Revoke this key?')}
      danger
      confirm={t('Revoke key')}
      consequences={[
        rich('Within 1 second, requests with {record} are rejected with 401 invalid_api_key.', {
          record: <strong>{calledOf(record)}</strong>,
        }),
        t('Requests in progress finish normally and are charged.'),
        t('This can’t be undone. The owner sees the reason and can create another key.'),
      ]}
      act={() => post(`/keys/${record.id}/revoke`, { reason })}
      done={t('Key revoked.')}
      {...dialog}
    >
      <SelectField label={t('Reason')} options={REASONS} value={reason} onChange={setReason} />
    </ConfirmDialog>
  );
}

export function RotateKeyDialog({ record, onShown, onClose }: Props) {
  return (
    <ConfirmDialog
      title={t('Rotate this key?')}
      confirm={t('Rotate key')}
      consequences={[
        rich(
          'Revokes {record} and creates a replacement with the same name and expiry in one step.',
          { record: <strong>{calledOf(record)}</strong> },
        ),
        t('The replacement is shown once, in the next step. You must send it to the owner.'),
        t('If possible, let the owner rotate the key, so that only the owner sees it.'),
      ]}
      act={async () => {
        const { created } = await post<RotatedKeyRecord>(`/keys/${record.id}/rotate`);
        onShown({
          title: t('Key rotated'),
          key: created.key,
          about: t('It replaces {masked}, which is revoked.', { masked: record.masked }),
        });
      }}
      onClose={onClose}
    />
  );
}
