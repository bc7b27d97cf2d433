// Creates a key with a name and an expiry.

import { useState } from 'preact/hooks';
import type { CreatedKeyRecord } from '../../../records/key.ts';
import {
  type DialogProps,
  endOfDay,
  FormDialog,
  fieldError,
  LastDayField,
  post,
  SelectField,
  TextField,
  useAction,
} from '../../ui/index.ts';
import type { ShownKey } from './actions.tsx';

const DAY_MS = 86_400_000;

const EXPIRIES = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'day', label: 'On a date' },
] as const;

export function CreateKeyDialog({ onShown, onClose }: DialogProps<ShownKey>) {
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState('');
  const [day, setDay] = useState('');
  const action = useAction(async () => {
    const expiresAt = expiryOf(expiry, day);
    onShown({ created: await post<CreatedKeyRecord>('/keys', { name, expires_at: expiresAt }) });
  });
  return (
    <FormDialog
      title="New API key"
      action={action}
      fields={['expires_at']}
      submit="Create key"
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="For example, the machine or project that uses it. You can change it later."
        placeholder="laptop"
        maxLength={100}
        value={name}
        onInput={setName}
      />
      <SelectField
        label="Expires"
        hint="Expiring keys are safer."
        options={EXPIRIES}
        value={expiry}
        onChange={setExpiry}
        error={expiry === 'day' ? undefined : fieldError(action, 'expires_at')}
      />
      {expiry === 'day' && (
        <LastDayField day={day} error={fieldError(action, 'expires_at')} onChange={setDay} />
      )}
    </FormDialog>
  );
}

function expiryOf(expiry: string, day: string): string | null {
  if (expiry === '') return null;
  if (expiry === 'day') return endOfDay(day);
  return new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
}
