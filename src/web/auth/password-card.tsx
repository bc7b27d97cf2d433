// Changes the password, in the settings of both applications.

import { useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { post } from '../ui/api.ts';
import { Form } from '../ui/field.tsx';
import { Card } from '../ui/parts.tsx';
import { useAction } from '../ui/resource.ts';
import { toast } from '../ui/toast.tsx';
import { HiddenUsername, PasswordField } from './password-field.tsx';

export function PasswordCard({ onChanged }: { readonly onChanged: () => unknown }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const action = useAction(() => post('/auth/password/change', { current, password }));
  const submit = async () => {
    if (!(await action.run())) return;
    setCurrent('');
    setPassword('');
    toast(t('Password changed. All other sessions were signed out.'));
    await onChanged();
  };
  return (
    <Card title={t('Password')}>
      <Form action={action} submit={t('Change password')} onSubmit={() => void submit()}>
        <HiddenUsername />
        <div class="fields">
          <PasswordField label={t('Current password')} value={current} onInput={setCurrent} />
          <PasswordField isNew label={t('New password')} value={password} onInput={setPassword} />
        </div>
      </Form>
    </Card>
  );
}
