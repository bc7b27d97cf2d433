// The sign-in page of both applications: the password, then the second factor if it is on.

import { useState } from 'preact/hooks';
import type { SignInRecord } from '../../dashboard/records/auth.ts';
import { t } from '../text/t.ts';
import { ApiError, post } from '../ui/api.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { Alert } from '../ui/parts.tsx';
import { useAction } from '../ui/resource.ts';
import { house } from '../ui/session.ts';
import { EmailField, enter, fromAddress, GateForm, GatePage } from './gate.tsx';
import { PasswordField } from './password-field.tsx';

export function View() {
  const [asksCode, setAsksCode] = useState(false);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const action = useAction(async () => {
    const { status } = await post<SignInRecord>('/auth/login', { email, password });
    if (status === 'signed_in') enter();
    else setAsksCode(true);
  });
  if (asksCode) {
    return (
      <SecondFactor
        onBack={(error) => {
          setAsksCode(false);
          action.error.value = error;
        }}
      />
    );
  }
  return (
    <GatePage
      title={t('Sign in')}
      lead={APP_PREFIX === '/operator' ? t('For operators of this server.') : undefined}
      foot={<Foot />}
    >
      <Why />
      <GateForm action={action} submit={t('Sign in')} onSubmit={() => void action.run()}>
        <EmailField value={email} onInput={setEmail} />
        <PasswordField value={password} onInput={setPassword} />
      </GateForm>
    </GatePage>
  );
}

/** The address says why, so only known reasons have a text. */
function Why() {
  const reason = fromAddress('reason');
  if (reason === 'expired') {
    return <Alert tone="warning">{t('Your session has expired. Sign in again.')}</Alert>;
  }
  if (reason !== 'other_tab') return null;
  return <Alert tone="warning">{t('You were signed out in another tab.')}</Alert>;
}

function Foot() {
  return (
    <>
      <Link href="/forgot">{t('Forgot your password?')}</Link>
      {APP_PREFIX === '/dashboard' &&
        (house.value.sign_up === 'closed' ? (
          <span class="soft">{t('The operator creates new accounts.')}</span>
        ) : (
          <Link href="/signup">{t('Create an account')}</Link>
        ))}
    </>
  );
}

/** Calls `onBack` with the error that makes the user enter the password again. */
function SecondFactor({ onBack }: { readonly onBack: (error?: ApiError) => void }) {
  const [usesRecovery, setUsesRecovery] = useState(false);
  const [code, setCode] = useState('');
  const action = useAction(async () => {
    try {
      await post<SignInRecord>('/auth/login/second-factor', { code: code.trim() });
      enter();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'sign_in_again') throw error;
      onBack(error);
    }
  });
  return (
    <GatePage
      title={t('Two-factor authentication')}
      lead={
        usesRecovery
          ? t('Enter one of your recovery codes. Each one works once.')
          : t('Enter the code from your authenticator app.')
      }
      foot={
        <Button kind="quiet" onClick={() => onBack()}>
          {t('Start over')}
        </Button>
      }
    >
      <GateForm action={action} submit={t('Continue')} onSubmit={() => void action.run()}>
        <TextField
          key={String(usesRecovery)}
          label={usesRecovery ? t('Recovery code') : t('Code')}
          name="code"
          autocomplete={usesRecovery ? 'off' : 'one-time-code'}
          inputMode={usesRecovery ? 'text' : 'numeric'}
          spellcheck={false}
          required
          value={code}
          onInput={setCode}
        />
      </GateForm>
      <Button
        kind="quiet"
        size="small"
        onClick={() => {
          setUsesRecovery(!usesRecovery);
          setCode('');
        }}
      >
        {usesRecovery ? t('Use the app instead') : t('Use a recovery code instead')}
      </Button>
    </GatePage>
  );
}
