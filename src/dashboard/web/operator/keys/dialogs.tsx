// Operator actions on an API key: revoke, rotate, create.

import { useState } from 'preact/hooks';
import type { CreatedKeyRecord, KeyRecord, RotatedKeyRecord } from '../../../records/key.ts';
import {
  ConfirmDialog,
  type DialogProps,
  FormDialog,
  fieldError,
  post,
  SelectField,
  StateBadge,
  TextField,
  Time,
  toast,
  useAction,
} from '../../ui/index.ts';
import { ShownOnceDialog } from '../shown-once.tsx';
import { expiryOf, FOR_GOOD, UntilField } from '../until.tsx';

type Props = DialogProps<KeyShownOnce> & { readonly record: KeyRecord };

/** A key that is shown once, with a note for the operator. */
export type KeyShownOnce = {
  readonly title: string;
  readonly key: string;
  readonly about: string;
};

const REASONS = [
  { value: 'operator', label: 'Revoked by the operator' },
  { value: 'leak_report', label: 'Leaked' },
  { value: 'user', label: 'Requested by the owner' },
  { value: 'account_closed', label: 'Account closed' },
] as const;

const calledOf = ({ name, masked }: KeyRecord) => (name === null ? masked : `${name} (${masked})`);

export function KeyState({ record }: { readonly record: KeyRecord }) {
  const { status, revoked_at, revoked_reason } = record;
  const reason = REASONS.find(({ value }) => value === revoked_reason)?.label ?? 'Rotated';
  return (
    <>
      <StateBadge state={status} {...(status === 'active' ? {} : { tone: 'neutral' })} />
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
    <ShownOnceDialog title={title} label="the key" lines={[key]} onClose={onClose}>
      {about} Send it only to its owner.
    </ShownOnceDialog>
  );
}

export function RevokeKeyDialog({ record, onDone, onClose }: Props) {
  const [reason, setReason] = useState<string>('operator');
  return (
    <ConfirmDialog
      title="Revoke this key?"
      danger
      confirm="Revoke key"
      consequences={[
        <>
          Within 1 second, requests with <strong>{calledOf(record)}</strong> are rejected with 401
          invalid_api_key.
        </>,
        'Requests in progress finish normally and are charged.',
        'This can’t be undone. The owner sees the reason and can create another key.',
      ]}
      act={async () => {
        await post(`/keys/${record.id}/revoke`, { reason });
        toast('Key revoked.');
        await onDone();
      }}
      onClose={onClose}
    >
      <SelectField label="Reason" options={REASONS} value={reason} onChange={setReason} />
    </ConfirmDialog>
  );
}

export function RotateKeyDialog({ record, onShown, onClose }: Props) {
  return (
    <ConfirmDialog
      title="Rotate this key?"
      confirm="Rotate key"
      consequences={[
        <>
          Revokes <strong>{calledOf(record)}</strong> and creates a replacement with the same name
          and expiry in one step.
        </>,
        'The replacement is shown once, in the next step. You must send it to the owner.',
        'If possible, let the owner rotate the key, so that only the owner sees it.',
      ]}
      act={async () => {
        const { created } = await post<RotatedKeyRecord>(`/keys/${record.id}/rotate`);
        onShown({
          title: 'Key rotated',
          key: created.key,
          about: `It replaces ${record.masked}, which is revoked.`,
        });
      }}
      onClose={onClose}
    />
  );
}

export function CreateKeyDialog({
  accountId,
  email,
  onShown,
  onClose,
}: Omit<Props, 'record'> & { readonly accountId: string; readonly email: string }) {
  const [name, setName] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const action = useAction(async () => {
    const body = { name, ...expiryOf(until) };
    const { key } = await post<CreatedKeyRecord>(`/accounts/${accountId}/keys`, body);
    onShown({ title: 'Key created', key, about: `A key of ${email}.` });
  });
  return (
    <FormDialog
      title="New key"
      action={action}
      fields={['name', 'expires_at']}
      submit="Create key"
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint={`For ${email}. The owner sees it in the list of keys.`}
        maxLength={100}
        value={name}
        onInput={setName}
        error={fieldError(action, 'name')}
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
