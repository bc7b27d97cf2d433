// What operators do to an API key: revoke it, rotate it for a customer, create one.

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

/** A key that is shown once, and what an operator is to know of it. */
export type KeyShownOnce = {
  readonly title: string;
  readonly key: string;
  readonly about: string;
};

const REASONS = [
  { value: 'operator', label: 'By the operator' },
  { value: 'leak_report', label: 'It has leaked' },
  { value: 'user', label: 'Its owner asked for it' },
  { value: 'account_closed', label: 'The account is closed' },
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
      {about} Give it to its owner alone.
    </ShownOnceDialog>
  );
}

export function RevokeKeyDialog({ record, onDone, onClose }: Props) {
  const [reason, setReason] = useState<string>('operator');
  return (
    <ConfirmDialog
      title="Revoke this key?"
      danger
      confirm="Revoke the key"
      consequences={[
        <>
          Requests with <strong>{calledOf(record)}</strong> are refused with 401 invalid_api_key
          from now on, within a second.
        </>,
        'Answers that are under way go on to their end and are charged.',
        'It cannot be taken back. Its owner sees the reason, and can create another key.',
      ]}
      act={async () => {
        await post(`/keys/${record.id}/revoke`, { reason });
        toast('The key is revoked.');
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
      confirm="Rotate the key"
      consequences={[
        <>
          <strong>{calledOf(record)}</strong> is revoked, and a replacement with the same name and
          expiry is created in one step.
        </>,
        'You see the replacement once, right after this, and have to bring it to its owner.',
        'It is better that its owner rotates it: then only the owner ever sees the key.',
      ]}
      act={async () => {
        const { created } = await post<RotatedKeyRecord>(`/keys/${record.id}/rotate`);
        onShown({
          title: 'The key is rotated',
          key: created.key,
          about: `It takes the place of ${record.masked}, which is revoked.`,
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
    onShown({ title: 'The key is there', key, about: `This is a key of ${email}.` });
  });
  return (
    <FormDialog
      title="New key"
      action={action}
      fields={['name', 'expires_at']}
      submit="Create the key"
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint={`A key of ${email}; its owner sees it in the list of keys.`}
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
