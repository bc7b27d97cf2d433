// The shared parts of the signed-out pages: the frame, the form, and the notices for an insecure
// connection and for a server without a mail server.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { rich } from '../text/rich.ts';
import { t } from '../text/t.ts';
import type { ApiError } from '../ui/api.ts';
import { Button } from '../ui/button.tsx';
import { Form, TextField } from '../ui/field.tsx';
import { formatSpan } from '../ui/format.ts';
import { safeNext } from '../ui/next.ts';
import { notifyTabs } from '../ui/other-tabs.ts';
import { Alert, Card } from '../ui/parts.tsx';
import type { Action } from '../ui/resource.ts';
import { house } from '../ui/session.ts';

export function GatePage({
  title,
  lead,
  children,
  foot,
}: {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly foot?: ComponentChildren;
}) {
  return (
    <div class="stack">
      {!window.isSecureContext && <InsecureAlert />}
      <Card>
        <div>
          <h1 tabIndex={-1}>{title}</h1>
          {lead && <p class="soft">{lead}</p>}
        </div>
        {children}
      </Card>
      {foot && <div class="gate-foot">{foot}</div>}
    </div>
  );
}

/** Browsers keep a Secure session cookie only over HTTPS, and over HTTP only for localhost. */
function InsecureAlert() {
  const port = window.location.port === '' ? '' : `:${window.location.port}`;
  return (
    <Alert tone="warning" title={t('You cannot stay signed in here')}>
      {rich(
        "Browsers don't keep a session over plain HTTP. Open this page over HTTPS, or on the server itself at {port}.",
        {
          port: (
            <code>
              http://localhost{port}
              {APP_PREFIX}
            </code>
          ),
        },
      )}
    </Alert>
  );
}

/** A form with one wide button, disabled until the retry time of a refusal has passed. */
export function GateForm<Args extends readonly unknown[]>({
  action,
  submit,
  onSubmit,
  children,
}: {
  readonly action: Action<Args>;
  readonly submit: string;
  readonly onSubmit: () => unknown;
  readonly children: ComponentChildren;
}) {
  const wait = useWait(action.error.value);
  return (
    <Form action={action} onSubmit={() => wait === 0 && onSubmit()}>
      {children}
      <Button type="submit" kind="primary" size="wide" busy={action.busy.value} disabled={wait > 0}>
        {wait > 0 ? t('Try again in {wait}', { wait: formatSpan(wait * 1_000) }) : submit}
      </Button>
    </Form>
  );
}

/** The address that signs in, for password managers too. */
export function EmailField(field: {
  readonly value: string;
  readonly onInput: (email: string) => void;
}) {
  return (
    <TextField
      label={t('E-mail address')}
      type="email"
      name="email"
      autocomplete="username"
      required
      {...field}
    />
  );
}

/** The seconds left until a refused form may be sent again. */
function useWait(error: ApiError | undefined): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const seconds = error?.retryAfterSeconds ?? 0;
    setLeft(seconds);
    if (seconds === 0) return undefined;
    const until = Date.now() + seconds * 1_000;
    const timer = setInterval(() => {
      setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1_000)));
    }, 500);
    return () => clearInterval(timer);
  }, [error]);
  return left;
}

/** Shown after a request for a mail. Must not reveal whether the address has an account. */
export function MailedNotice({ email }: { readonly email: string }) {
  if (house.value.mail === 'log') {
    return (
      <Alert tone="warning" title={t('This server sends no mail')}>
        {APP_PREFIX === '/operator'
          ? t('The link is in the server log. It works once and expires after 30 minutes.')
          : t(
              'Ask the operator for the link, which is in the server log. It works once and expires after 30 minutes.',
            )}
      </Alert>
    );
  }
  return (
    <Alert tone="good" title={t('Check your mail')}>
      {t(
        'If {email} can receive this mail, a link is on its way. It works once and expires after 30 minutes. Check your spam folder, too.',
        { email },
      )}
    </Alert>
  );
}

/**
 * Reloads the whole page, because its content now depends on the session. Replaces the history
 * entry, so that "back" skips the form and no token of a link stays in the history.
 */
export function enter(): void {
  notifyTabs('signed_in');
  const path = safeNext(fromAddress('next') || null, APP_PREFIX);
  window.location.replace(path === '/' ? APP_PREFIX : `${APP_PREFIX}${path}`);
}

/** A query parameter of the page, such as the token of a mailed link. */
export function fromAddress(name: string): string {
  return new URLSearchParams(window.location.search).get(name) ?? '';
}
