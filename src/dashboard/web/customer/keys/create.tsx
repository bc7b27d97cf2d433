// Creates a key with a name and an expiry.

import { useState } from 'preact/hooks';
import type { CreatedKeyRecord } from '../../../records/key.ts';
import { t } from '../../text/t.ts';
import {
  BOUNDS_FIELDS,
  BoundsFields,
  type DialogProps,
  endOfDay,
  FormDialog,
  fieldError,
  LastDayField,
  post,
  SelectField,
  TextField,
  useAction,
  useBounds,
} from '../../ui/index.ts';
import type { ShownKey } from './actions.tsx';

const DAY_MS = 86_400_000;

const EXPIRIES = [
  { value: '', label: t('Never') },
  { value: '7', label: t('In 7 days') },
  { value: '30', label: t('In 30 days') },
  { value: '90', label: t('In 90 days') },
  { value: '365', label: t('In 1 year') },
  { value: 'day', label: t('On a date') },
] as const;

export function CreateKeyDialog({ onShown, onClose }: DialogProps<ShownKey>) {
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState('');
  const [day, setDay] = useState('');
  const bounds = useBounds();
  const action = useAction(async () => {
    const expiresAt = expiryOf(expiry, day);
    onShown({
      created: await post<CreatedKeyRecord>('/keys', {
        name,
        expires_at: expiresAt,
        ...bounds.body,
      }),
    });
  });
  return (
    <FormDialog
      title={t('New API key')}
      action={action}
      fields={['expires_at', ...BOUNDS_FIELDS]}
      submit={t('Create key')}
      onClose={onClose}
    >
      <TextField
        label={t('Name')}
        hint={t('For example, the machine or project that uses it. You can change it later.')}
        placeholder={t('laptop')}
        maxLength={100}
        value={name}
        onInput={setName}
      />
      <SelectField
        label={t('Expires')}
        hint={t('Expiring keys are safer.')}
        options={EXPIRIES}
        value={expiry}
        onChange={setExpiry}
        error={expiry === 'day' ? undefined : fieldError(action, 'expires_at')}
      />
      {expiry === 'day' && (
        <LastDayField day={day} error={fieldError(action, 'expires_at')} onChange={setDay} />
      )}
      <BoundsFields bounds={bounds} action={action} />
    </FormDialog>
  );
}

function expiryOf(expiry: string, day: string): string | null {
  if (expiry === '') return null;
  if (expiry === 'day') return endOfDay(day);
  return new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
}
