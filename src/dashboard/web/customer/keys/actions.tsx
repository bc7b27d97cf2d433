// What can be done to one key, each in a dialog that says what will happen.

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

/** A key that is shown once, with the masked form of the one that it has replaced. */
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
      confirm="Rotate the key"
      consequences={[
        <>
          A replacement for <strong>{fullName(record)}</strong> is created, with the same name and
          expiry. It is shown once, right after this.
        </>,
        'The old key is refused from now on, everywhere it is used, within a second.',
        'Answers that are under way go on to their end.',
        'The number of active keys stays the same; the new one counts as created within this hour.',
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
      confirm="Revoke the key"
      consequences={[
        <>
          Requests with <strong>{name}</strong> are refused from now on, everywhere it is used,
          within a second.
        </>,
        'Answers that are under way go on to their end.',
        'It cannot be taken back. Where the key is still needed, rotate it instead.',
      ]}
      act={async () => {
        await post(`/keys/${record.id}/revoke`);
        toast(`The key ${name} is revoked.`);
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
    toast('The key has another name.');
    await onDone();
    onClose();
  });
  return (
    <FormDialog title="Rename the key" action={action} submit="Rename" onClose={onClose}>
      <TextField
        label="Name"
        hint={`Of the key ${record.masked}. The key itself stays as it is.`}
        maxLength={100}
        value={name}
        onInput={setName}
      />
    </FormDialog>
  );
}
