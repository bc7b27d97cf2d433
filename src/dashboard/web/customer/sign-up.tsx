// A new account: address and password, then the link in the mail, which asks for the password once more.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { enter, fromAddress, GateForm, GatePage, MailedNotice } from '../ui/auth/gate.tsx';
import { PasswordField } from '../ui/auth/password-field.tsx';
import { IncompleteLink } from '../ui/auth/recovery.tsx';
import { Button, ErrorAlert, house, post, TextField, toast, useAction } from '../ui/index.ts';

export function SignUpPage() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [invite, setInvite] = useState(() => fromAddress('invite'));
  const [isAsked, setAsked] = useState(false);
  const asksInvite = house.value.sign_up === 'invite';
  const action = useAction(() =>
    post('/auth/signup', { email, password, ...(asksInvite ? { invite: invite.trim() } : {}) }),
  );
  const submit = async () => {
    if (await action.run()) setAsked(true);
  };
  if (house.value.sign_up === 'closed') return <Closed />;
  if (isAsked) {
    return (
      <GatePage title="Confirm your address" foot={<Link href="/sign-in">Back to signing in</Link>}>
        <MailedNotice email={email} />
        <ErrorAlert error={action.error.value} />
        <div class="row">
          <Button
            busy={action.busy.value}
            onClick={async () => {
              if (await action.run()) toast('The link was asked for again.');
            }}
          >
            Ask for it again
          </Button>
          <Button kind="quiet" onClick={() => setAsked(false)}>
            Change the address
          </Button>
        </div>
      </GatePage>
    );
  }
  return (
    <GatePage
      title="Create an account"
      foot={
        <span>
          You have one already? <Link href="/sign-in">Sign in</Link>
        </span>
      }
    >
      <GateForm action={action} submit="Create the account" onSubmit={() => void submit()}>
        <TextField
          label="E-mail address"
          type="email"
          name="email"
          autocomplete="username"
          required
          value={email}
          onInput={setEmail}
        />
        <PasswordField isNew value={password} onInput={setPassword} />
        {asksInvite && (
          <TextField
            label="Invitation"
            name="invite"
            spellcheck={false}
            required
            hint="Accounts are by invitation here. The operator gives you the code."
            value={invite}
            onInput={setInvite}
          />
        )}
      </GateForm>
    </GatePage>
  );
}

function Closed() {
  return (
    <GatePage title="Sign-up is closed" foot={<Link href="/sign-in">Back to signing in</Link>}>
      <p>
        New accounts are made by the operator of this server. Once there is one with your address,
        choose its password with <Link href="/forgot">Forgot your password?</Link>
      </p>
    </GatePage>
  );
}

export function VerifyPage() {
  const [token] = useState(() => fromAddress('token'));
  const [password, setPassword] = useState('');
  const action = useAction(async () => {
    await post('/auth/verify-email', { token, password });
    enter();
  });
  const isOver = action.error.value?.code === 'invalid_token';
  return (
    <GatePage
      title="Confirm your address"
      lead="Enter the password that you chose when you signed up, so that nobody confirms somebody else's account."
      foot={
        <Link href={isOver ? '/signup' : '/sign-in'}>
          {isOver ? 'Sign up again for another link' : 'Back to signing in'}
        </Link>
      }
    >
      {token === '' && <IncompleteLink />}
      <GateForm action={action} submit="Confirm and sign in" onSubmit={() => void action.run()}>
        <PasswordField value={password} onInput={setPassword} />
      </GateForm>
    </GatePage>
  );
}
