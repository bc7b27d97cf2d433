// Creates an account with its first key, which is shown once.

import { useState } from 'preact/hooks';
import type { CreatedAccountRecord } from '../../../records/operator-account.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import type { DialogProps } from '../../ui/collection.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import {
  CheckField,
  fieldError,
  SelectField,
  type SelectOption,
  TextField,
} from '../../ui/field.tsx';
import { useAction } from '../../ui/resource.ts';

export function CreateAccountDialog({
  plans,
  onShown,
  onClose,
}: DialogProps<CreatedAccountRecord> & { readonly plans: readonly SelectOption[] }) {
  const [email, setEmail] = useState('');
  const [chosen, setPlan] = useState<string | undefined>(undefined);
  // The plans may arrive after the dialog has opened.
  const plan = chosen ?? plans[0]?.value ?? '';
  const [verified, setVerified] = useState(false);
  const [keyName, setKeyName] = useState('');
  const action = useAction(async () => {
    const body = { email, plan, email_verified: verified, key_name: keyName };
    onShown(await post<CreatedAccountRecord>('/accounts', body));
  });
  return (
    <FormDialog
      title={t('New account')}
      action={action}
      fields={['email', 'plan', 'name']}
      submit={t('Create account')}
      onClose={onClose}
    >
      <TextField
        label={t('E-mail address')}
        type="email"
        required
        maxLength={254}
        value={email}
        onInput={setEmail}
        error={fieldError(action, 'email')}
      />
      <SelectField
        label={t('Plan')}
        options={plans}
        value={plan}
        onChange={setPlan}
        error={fieldError(action, 'plan')}
      />
      <CheckField
        label={t('Mark the address as verified')}
        hint={t('Requests are rejected until the address is verified.')}
        checked={verified}
        onChange={setVerified}
      />
      <TextField
        label={t('Name of the first key')}
        hint={t('The key is shown once, in the next step. The balance starts at 0.')}
        maxLength={100}
        value={keyName}
        onInput={setKeyName}
        error={fieldError(action, 'name')}
      />
    </FormDialog>
  );
}
