// The dialog that creates a key: its name, its expiry and its bounds.

import { useState } from 'preact/hooks';
import type { CreatedKeyRecord } from '../../../dashboard/records/key.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { fieldError, type SelectOption } from '../../ui/field.tsx';
import { useAction } from '../../ui/resource.ts';
import { expiryOf, FOR_GOOD, UntilField } from '../../ui/until-field.tsx';
import { BOUNDS_FIELDS, BoundsFields, KeyNameField, useBounds } from './bounds.tsx';

export function CreateKeyDialog({
  title,
  path,
  name: nameField,
  until: untilField = {},
  onCreated,
  onClose,
}: {
  readonly title: string;
  readonly path: string;
  readonly name: { readonly hint: string; readonly placeholder?: string };
  readonly until?: { readonly hint?: string; readonly spans?: readonly SelectOption[] };
  readonly onCreated: (created: CreatedKeyRecord) => void;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const bounds = useBounds();
  const folded = ['expires_at', ...BOUNDS_FIELDS];
  const action = useAction(async () => {
    const body = { name, ...expiryOf(until), ...bounds.body };
    onCreated(await post<CreatedKeyRecord>(path, body));
  });
  return (
    <FormDialog
      title={title}
      action={action}
      fields={['name', ...folded]}
      submit={t('Create')}
      onClose={onClose}
    >
      <KeyNameField {...nameField} name={name} action={action} onInput={setName} />
      <details
        open={folded.some((field) => fieldError(action, field) !== undefined)}
        // The browser cannot show its message at a field that is folded.
        onInvalidCapture={({ currentTarget }) => {
          currentTarget.open = true;
        }}
      >
        <summary>{t('Limits')}</summary>
        <div class="stack">
          <UntilField {...untilField} until={until} action={action} onChange={setUntil} />
          <BoundsFields bounds={bounds} action={action} />
        </div>
      </details>
    </FormDialog>
  );
}
