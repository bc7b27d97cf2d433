// What the pages of those who are not signed in have in common: their frame, their form, and what has
// to be said of a connection that cannot keep a session and of a server that sends no mail.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../api.ts';
import { Button } from '../button.tsx';
import { Form } from '../field.tsx';
import { formatSpan } from '../format.ts';
import { safeNext } from '../next.ts';
import { Alert, Card } from '../parts.tsx';
import type { Action } from '../resource.ts';
import { house } from '../session.ts';

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

/** Browsers keep the cookie of a session for HTTPS alone, and for the machine itself. */
function InsecureAlert() {
  const port = window.location.port === '' ? '' : `:${window.location.port}`;
  return (
    <Alert tone="warning" title="You cannot stay signed in here">
      This page came over plain HTTP, where browsers keep no session of ours. Open it over HTTPS, or
      on the server itself at{' '}
      <code>
        http://localhost{port}
        {APP_PREFIX}
      </code>
      .
    </Alert>
  );
}

/** A form with one wide button, which waits out what the server asks to wait. */
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
        {wait > 0 ? `Try again in ${formatSpan(wait * 1_000)}` : submit}
      </Button>
    </Form>
  );
}

/** The seconds that are left of what a refusal asks to wait. */
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

/** What follows a mail that was asked for. It must not say whether there is somebody to get it. */
export function MailedNotice({ email }: { readonly email: string }) {
  if (house.value.mail === 'log') {
    return (
      <Alert tone="warning" title="This server sends no mail">
        {APP_PREFIX === '/operator'
          ? 'The link is in the log of the server. It works once, within 30 minutes.'
          : 'The link is in the log of its operator: ask them for it. It works once, within 30 minutes.'}
      </Alert>
    );
  }
  return (
    <Alert tone="good" title="Check your mail">
      If there is something to do for {email}, a mail with a link is on its way. The link works
      once, within 30 minutes. Look among the unwanted mail, too.
    </Alert>
  );
}

/**
 * The whole page is loaded anew, as somebody else sees it now. It takes the place of this one, so that
 * the way back leads past the form, and no token of a link stays in the history.
 */
export function enter(): void {
  const next = new URLSearchParams(window.location.search).get('next');
  const path = safeNext(next, APP_PREFIX);
  window.location.replace(path === '/' ? APP_PREFIX : `${APP_PREFIX}${path}`);
}

/** A part of the address, such as the token of a mailed link. */
export function fromAddress(name: string): string {
  return new URLSearchParams(window.location.search).get(name) ?? '';
}
