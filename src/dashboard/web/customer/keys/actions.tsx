// The actions on one key, each in a dialog that states the consequences.

import { useState } from 'preact/hooks';
import type { CreatedKeyRecord, KeyRecord, RotatedKeyRecord } from '../../../records/key.ts';
import {
  ConfirmDialog,
  type DialogProps,
  FormDialog,
  patch,
  post,
  type RowAction,
  TextField,
  toast,
  useAction,
} from '../../ui/index.ts';

/** A key that is shown once, with the masked form of the key it replaces. */
export type ShownKey = { readonly created: CreatedKeyRecord; readonly replaced?: string };

type Props = DialogProps<ShownKey> & { readonly record: KeyRecord };

const called = ({ name, masked }: KeyRecord) => `the key ${name ?? masked}`;
const fullName = ({ name, masked }: KeyRecord) => (name === null ? masked : `${name} (${masked})`);
const isKept = ({ status }: KeyRecord) => status !== 'revoked';

export const KEY_ACTIONS: readonly RowAction<KeyRecord, ShownKey>[] = [
  {
    label: 'Rename',
    called,
    isOffered: isKept,
    dialog: (record, dialog) => <RenameDialog record={record} {...dialog} />,
  },
  {
    label: 'Rotate',
    called,
    isOffered: ({ status }) => status === 'active',
    dialog: (record, dialog) => <RotateDialog record={record} {...dialog} />,
  },
  {
    label: 'Revoke',
    called,
    danger: true,
    isOffered: isKept,
    dialog: (record, dialog) => <RevokeDialog record={record} {...dialog} />,
  },
];

function RotateDialog({ record, onShown, onClose }: Props) {
  return (
    <ConfirmDialog
      title="Rotate this key?"
      confirm="Rotate key"
      consequences={[
        <>
          Creates a replacement for <strong>{fullName(record)}</strong> with the same name and
          expiry. It is shown once, in the next step.
        </>,
        'The old key stops working everywhere within 1 second.',
        'Requests in progress finish normally.',
        'The number of active keys stays the same. The new key counts toward your hourly creation limit.',
      ]}
      act={async () => {
        const { created } = await post<RotatedKeyRecord>(`/keys/${record.id}/rotate`);
        onShown({ created, replaced: record.masked });
      }}
      onClose={onClose}
    />
  );
}

function RevokeDialog({ record, onDone, onClose }: Props) {
  const name = fullName(record);
  return (
    <ConfirmDialog
      title="Revoke this key?"
      danger
      confirm="Revoke key"
      consequences={[
        <>
          <strong>{name}</strong> stops working everywhere within 1 second.
        </>,
        'Requests in progress finish normally.',
        'This can’t be undone. If you still need the key, rotate it instead.',
      ]}
      act={async () => {
        await post(`/keys/${record.id}/revoke`);
        toast(`Key ${name} revoked.`);
        await onDone();
      }}
      onClose={onClose}
    />
  );
}

function RenameDialog({ record, onDone, onClose }: Props) {
  const [name, setName] = useState(record.name ?? '');
  const action = useAction(async () => {
    await patch(`/keys/${record.id}`, { name });
    toast('Key renamed.');
    await onDone();
    onClose();
  });
  return (
    <FormDialog title="Rename key" action={action} submit="Rename" onClose={onClose}>
      <TextField
        label="Name"
        hint={`For the key ${record.masked}. The key itself doesn’t change.`}
        maxLength={100}
        value={name}
        onInput={setName}
      />
    </FormDialog>
  );
}
