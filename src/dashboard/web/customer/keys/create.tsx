// Creates a key with a name and an expiry.

import { useState } from 'preact/hooks';
import type { CreatedKeyRecord } from '../../../records/key.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import type { DialogProps } from '../../ui/collection.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { BOUNDS_FIELDS, BoundsFields, useBounds } from '../../ui/key-bounds.tsx';
import { useAction } from '../../ui/resource.ts';
import { expiryOf, FOR_GOOD, UntilField } from '../../ui/until-field.tsx';
import type { ShownKey } from './actions.tsx';

/** By number of hours. */
const SPANS = [
  { value: '168', label: t('In 7 days') },
  { value: '720', label: t('In 30 days') },
  { value: '2160', label: t('In 90 days') },
  { value: '8760', label: t('In 1 year') },
] as const;

export function CreateKeyDialog({ onShown, onClose }: DialogProps<ShownKey>) {
  const [name, setName] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const bounds = useBounds();
  const action = useAction(async () => {
    const body = { name, expires_at: null, ...expiryOf(until), ...bounds.body };
    onShown({ created: await post<CreatedKeyRecord>('/keys', body) });
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
      <UntilField
        hint={t('Expiring keys are safer.')}
        spans={SPANS}
        until={until}
        action={action}
        onChange={setUntil}
      />
      <BoundsFields bounds={bounds} action={action} />
    </FormDialog>
  );
}
