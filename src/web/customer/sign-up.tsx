// Sign-up: address and password, then the mailed link, which asks for the password again.

import { useState } from 'preact/hooks';
import { EmailField, enter, fromAddress, GateForm, GatePage, MailedNotice } from '../auth/gate.tsx';
import { PasswordField } from '../auth/password-field.tsx';
import { IncompleteLink } from '../auth/recovery.tsx';
import { rich } from '../text/rich.ts';
import { t } from '../text/t.ts';
import { post } from '../ui/api.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { ErrorAlert } from '../ui/parts.tsx';
import { useAction } from '../ui/resource.ts';
import { house } from '../ui/session.ts';
import { toast } from '../ui/toast.tsx';

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
      <GatePage
        title={t('Confirm your address')}
        foot={<Link href="/sign-in">{t('Back to sign-in')}</Link>}
      >
        <MailedNotice email={email} />
        <ErrorAlert error={action.error.value} />
        <div class="row">
          <Button
            busy={action.busy.value}
            onClick={async () => {
              if (await action.run()) toast(t('Link sent again.'));
            }}
          >
            {t('Resend')}
          </Button>
          <Button kind="quiet" onClick={() => setAsked(false)}>
            {t('Change address')}
          </Button>
        </div>
      </GatePage>
    );
  }
  return (
    <GatePage
      title={t('Create an account')}
      foot={
        <span>
          {rich('Already have an account? <link>Sign in</link>', {
            link: (text) => <Link href="/sign-in">{text}</Link>,
          })}
        </span>
      }
    >
      <GateForm action={action} submit={t('Create account')} onSubmit={() => void submit()}>
        <EmailField value={email} onInput={setEmail} />
        <PasswordField isNew value={password} onInput={setPassword} />
        {asksInvite && (
          <TextField
            label={t('Invitation')}
            name="invite"
            spellcheck={false}
            required
            hint={t('Sign-up needs an invitation. Get the code from the operator.')}
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
    <GatePage
      title={t('Sign-up is closed')}
      foot={<Link href="/sign-in">{t('Back to sign-in')}</Link>}
    >
      <p>
        {rich(
          'The operator creates new accounts. Once you have one, set its password with <link>Forgot your password?</link>',
          { link: (text) => <Link href="/forgot">{text}</Link> },
        )}
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
      title={t('Confirm your address')}
      lead={t('Enter the password you chose at sign-up. It proves that the account is yours.')}
      foot={
        <Link href={isOver ? '/signup' : '/sign-in'}>
          {isOver ? t('Sign up again for another link') : t('Back to sign-in')}
        </Link>
      }
    >
      {token === '' && <IncompleteLink />}
      <GateForm
        action={action}
        submit={t('Confirm and sign in')}
        onSubmit={() => void action.run()}
      >
        <PasswordField value={password} onInput={setPassword} />
      </GateForm>
    </GatePage>
  );
}
