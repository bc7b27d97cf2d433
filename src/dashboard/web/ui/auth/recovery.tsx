// Password reset in both applications: requests a link, then sets a new password with it. An
// operator sets the first password in the same way.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { post } from '../api.ts';
import { LinkButton } from '../button.tsx';
import { TextField } from '../field.tsx';
import { Alert } from '../parts.tsx';
import { useAction } from '../resource.ts';
import { fromAddress, GateForm, GatePage, MailedNotice } from './gate.tsx';
import { PasswordField } from './password-field.tsx';

export function ForgotPage() {
  const [email, setEmail] = useState('');
  const [isAsked, setAsked] = useState(false);
  const action = useAction(() => post('/auth/password/forgot', { email }));
  const submit = async () => setAsked(await action.run());
  return (
    <GatePage
      title="Forgot your password?"
      lead="We'll send you a reset link."
      foot={<Link href="/sign-in">Back to sign-in</Link>}
    >
      {isAsked && <MailedNotice email={email} />}
      <GateForm
        action={action}
        submit={isAsked ? 'Resend' : 'Send reset link'}
        onSubmit={() => void submit()}
      >
        <TextField
          label="E-mail address"
          type="email"
          name="email"
          autocomplete="username"
          required
          value={email}
          onInput={setEmail}
        />
      </GateForm>
    </GatePage>
  );
}

export function ResetPage() {
  return <ChoosePassword title="Choose a new password" />;
}

/** The first page of a new operator. */
export function WelcomePage() {
  return <ChoosePassword title="Set your password" />;
}

function ChoosePassword({ title }: { readonly title: string }) {
  const [token] = useState(() => fromAddress('token'));
  const [password, setPassword] = useState('');
  const [isDone, setDone] = useState(false);
  const action = useAction(() => post('/auth/password/reset', { token, password }));
  const submit = async () => setDone(await action.run());
  if (isDone) {
    return (
      <GatePage title="Password set">
        <p>All other sessions were signed out.</p>
        <LinkButton kind="primary" size="wide" href="/sign-in">
          Sign in
        </LinkButton>
      </GatePage>
    );
  }
  const isOver = action.error.value?.code === 'invalid_token';
  return (
    <GatePage
      title={title}
      foot={<Link href="/forgot">{isOver ? 'Request a new link' : 'Link expired?'}</Link>}
    >
      {token === '' && <IncompleteLink />}
      <GateForm action={action} submit="Set password" onSubmit={() => void submit()}>
        <PasswordField isNew label="New password" value={password} onInput={setPassword} />
      </GateForm>
    </GatePage>
  );
}

export function IncompleteLink() {
  return (
    <Alert tone="warning" title="The link is incomplete">
      Open it from the mail again, or copy the whole link into the address bar.
    </Alert>
  );
}
