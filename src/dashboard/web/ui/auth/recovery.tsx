// A forgotten password, in both applications: asking for a link, and choosing another password with it.
// An operator's first password is chosen in the same way.

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
      lead="You get a link with which you choose another one."
      foot={<Link href="/sign-in">Back to signing in</Link>}
    >
      {isAsked && <MailedNotice email={email} />}
      <GateForm
        action={action}
        submit={isAsked ? 'Ask again' : 'Ask for a link'}
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

/** Where an operator who was just made begins. */
export function WelcomePage() {
  return <ChoosePassword title="Choose your password" />;
}

function ChoosePassword({ title }: { readonly title: string }) {
  const [token] = useState(() => fromAddress('token'));
  const [password, setPassword] = useState('');
  const [isDone, setDone] = useState(false);
  const action = useAction(() => post('/auth/password/reset', { token, password }));
  const submit = async () => setDone(await action.run());
  if (isDone) {
    return (
      <GatePage title="Your password is set">
        <p>Everybody who was signed in with the old one is signed out.</p>
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
      foot={<Link href="/forgot">{isOver ? 'Ask for another link' : 'Is the link too old?'}</Link>}
    >
      {token === '' && <IncompleteLink />}
      <GateForm action={action} submit="Set the password" onSubmit={() => void submit()}>
        <PasswordField isNew label="New password" value={password} onInput={setPassword} />
      </GateForm>
    </GatePage>
  );
}

export function IncompleteLink() {
  return (
    <Alert tone="warning" title="The link is not complete">
      Open it again from the mail, or copy all of it into the address bar.
    </Alert>
  );
}
