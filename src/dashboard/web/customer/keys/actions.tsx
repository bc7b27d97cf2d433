// What can be done to one key, each in a dialog that says what will happen.

import { useRef, useState } from 'preact/hooks';
import type { KeyRecord, RotatedKeyRecord } from '../../../records/key.ts';
import { ConfirmDialog, Dialog, Form, patch, post, TextField, useAction } from '../../ui/index.ts';

export type KeyAction = {
  readonly kind: 'rename' | 'rotate' | 'revoke';
  readonly key: KeyRecord;
};

type Props = {
  readonly action: KeyAction;
  readonly onClose: () => void;
  /** It is done; `said` says what. */
  readonly onDone: (said: string) => void;
  readonly onRotated: (rotated: RotatedKeyRecord) => void;
};

export function KeyDialog({ action: { kind, key }, onClose, onDone, onRotated }: Props) {
  /** What the server has answered, until the dialog is closed. */
  const rotated = useRef<RotatedKeyRecord | null>(null);
  const revoked = useRef(false);
  if (kind === 'rename') return <RenameDialog record={key} onClose={onClose} onDone={onDone} />;
  const called = key.name === null ? key.masked : `${key.name} (${key.masked})`;
  if (kind === 'rotate') {
    return (
      <ConfirmDialog
        title="Rotate this key?"
        confirm="Rotate the key"
        consequences={[
          <>
            A replacement for <strong>{called}</strong> is created, with the same name and expiry.
            It is shown once, right after this.
          </>,
          'The old key is refused from now on, everywhere it is used, within a second.',
          'Answers that are under way go on to their end.',
          'The number of active keys stays the same; the new one counts as created within this hour.',
        ]}
        act={async () => {
          rotated.current = await post<RotatedKeyRecord>(`/keys/${key.id}/rotate`);
        }}
        onClose={() => (rotated.current ? onRotated(rotated.current) : onClose())}
      />
    );
  }
  return (
    <ConfirmDialog
      title="Revoke this key?"
      danger
      confirm="Revoke the key"
      consequences={[
        <>
          Requests with <strong>{called}</strong> are refused from now on, everywhere it is used,
          within a second.
        </>,
        'Answers that are under way go on to their end.',
        'It cannot be taken back. Where the key is still needed, rotate it instead.',
      ]}
      act={async () => {
        await post(`/keys/${key.id}/revoke`);
        revoked.current = true;
      }}
      onClose={() => (revoked.current ? onDone(`The key ${called} is revoked.`) : onClose())}
    />
  );
}

function RenameDialog({
  record,
  onClose,
  onDone,
}: Pick<Props, 'onClose' | 'onDone'> & { readonly record: KeyRecord }) {
  const [name, setName] = useState(record.name ?? '');
  const action = useAction(async () => {
    await patch(`/keys/${record.id}`, { name });
    onDone('The key has another name.');
  });
  return (
    <Dialog title="Rename the key" onClose={onClose}>
      <Form action={action} submit="Rename" cancel={onClose} onSubmit={() => void action.run()}>
        <TextField
          label="Name"
          hint={`Of the key ${record.masked}. The key itself stays as it is.`}
          maxLength={100}
          value={name}
          onInput={setName}
        />
      </Form>
    </Dialog>
  );
}
