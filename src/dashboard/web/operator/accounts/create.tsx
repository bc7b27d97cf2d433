// Creates an account with its first key, which is shown once.

import { useState } from 'preact/hooks';
import type { CreatedAccountRecord } from '../../../records/operator-account.ts';
import {
  CheckField,
  type DialogProps,
  FormDialog,
  fieldError,
  post,
  SelectField,
  type SelectOption,
  TextField,
  useAction,
} from '../../ui/index.ts';

export function CreateAccountDialog({
  plans,
  onShown,
  onClose,
}: DialogProps<CreatedAccountRecord> & { readonly plans: readonly SelectOption[] }) {
  const [email, setEmail] = useState('');
  const [plan, setPlan] = useState(plans[0]?.value ?? '');
  const [verified, setVerified] = useState(false);
  const [keyName, setKeyName] = useState('');
  const action = useAction(async () => {
    const body = { email, plan, email_verified: verified, key_name: keyName };
    onShown(await post<CreatedAccountRecord>('/accounts', body));
  });
  return (
    <FormDialog
      title="New account"
      action={action}
      fields={['email', 'plan', 'name']}
      submit="Create account"
      onClose={onClose}
    >
      <TextField
        label="E-mail address"
        type="email"
        required
        maxLength={254}
        value={email}
        onInput={setEmail}
        error={fieldError(action, 'email')}
      />
      <SelectField
        label="Plan"
        options={plans}
        value={plan}
        onChange={setPlan}
        error={fieldError(action, 'plan')}
      />
      <CheckField
        label="Mark the address as verified"
        hint="Requests are rejected until the address is verified."
        checked={verified}
        onChange={setVerified}
      />
      <TextField
        label="Name of the first key"
        hint="The key is shown once, in the next step. The balance starts at 0."
        maxLength={100}
        value={keyName}
        onInput={setKeyName}
        error={fieldError(action, 'name')}
      />
    </FormDialog>
  );
}
