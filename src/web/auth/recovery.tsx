// Password reset in both applications: requests a link, then sets a new password with it. An
// operator sets the first password in the same way.

import { useState } from 'preact/hooks';
import type { SignInRecord } from '../../dashboard/records/auth.ts';
import { t } from '../text/t.ts';
import { post } from '../ui/api.ts';
import { LinkButton } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';
import { Alert } from '../ui/parts.tsx';
import { useAction } from '../ui/resource.ts';
import { EmailField, enter, fromAddress, GateForm, GatePage, MailedNotice } from './gate.tsx';
import { PasswordField } from './password-field.tsx';

export function ForgotPage() {
  const [email, setEmail] = useState('');
  const [isAsked, setAsked] = useState(false);
  const action = useAction(() => post('/auth/password/forgot', { email }));
  const submit = async () => setAsked(await action.run());
  return (
    <GatePage
      title={t('Forgot your password?')}
      lead={t("We'll send you a reset link.")}
      foot={<Link href="/sign-in">{t('Back to sign-in')}</Link>}
    >
      {isAsked && <MailedNotice email={email} />}
      <GateForm
        action={action}
        submit={isAsked ? t('Resend') : t('Send reset link')}
        onSubmit={() => void submit()}
      >
        <EmailField value={email} onInput={setEmail} />
      </GateForm>
    </GatePage>
  );
}

export function ResetPage() {
  return <ChoosePassword title={t('Choose a new password')} />;
}

/** The first page of a new operator. */
export function WelcomePage() {
  return <ChoosePassword title={t('Set your password')} isFirst />;
}

function ChoosePassword({
  title,
  isFirst,
}: {
  readonly title: string;
  readonly isFirst?: boolean;
}) {
  const [token] = useState(() => fromAddress('token'));
  const [password, setPassword] = useState('');
  const [isDone, setDone] = useState(false);
  const action = useAction(async () => {
    // A new user is signed in.
    if (await post<SignInRecord | undefined>('/auth/password/reset', { token, password })) enter();
    else setDone(true);
  });
  if (isDone) {
    return (
      <GatePage title={t('Password set')}>
        {!isFirst && <p>{t('All other sessions were signed out.')}</p>}
        <LinkButton kind="primary" size="wide" href="/sign-in">
          {t('Sign in')}
        </LinkButton>
      </GatePage>
    );
  }
  const isOver = action.error.value?.code === 'invalid_token';
  return (
    <GatePage
      title={title}
      foot={<Link href="/forgot">{isOver ? t('Request a new link') : t('Link expired?')}</Link>}
    >
      {token === '' && <IncompleteLink />}
      <GateForm action={action} submit={t('Set password')} onSubmit={() => void action.run()}>
        <PasswordField isNew label={t('New password')} value={password} onInput={setPassword} />
      </GateForm>
    </GatePage>
  );
}

export function IncompleteLink() {
  return (
    <Alert tone="warning" title={t('The link is incomplete')}>
      {t('Open it from the mail again, or copy the whole link into the address bar.')}
    </Alert>
  );
}
