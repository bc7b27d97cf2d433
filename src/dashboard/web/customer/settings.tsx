// The account and what protects it: address, plan and limits, password, second factor, sessions, and the
// end of the account.

import { useState } from 'preact/hooks';
import type { OwnAccountRecord } from '../../records/account.ts';
import type { DeletionRecord, SessionListRecord } from '../../records/auth.ts';
import { PasswordCard } from '../ui/auth/password-card.tsx';
import { SessionsCard } from '../ui/auth/sessions-card.tsx';
import { TwoFactorCard } from '../ui/auth/two-factor-card.tsx';
import {
  Alert,
  Badge,
  Button,
  Card,
  ConfirmDialog,
  CopyButton,
  ErrorAlert,
  Facts,
  formatCount,
  formatInstant,
  Loaded,
  loadSession,
  Page,
  post,
  remove,
  StateBadge,
  session,
  Time,
  toast,
  useAction,
  useResource,
} from '../ui/index.ts';

export function SettingsPage() {
  const account = useResource<OwnAccountRecord>('/account');
  const sessions = useResource<SessionListRecord>('/auth/sessions');
  const dueAt = session.value?.account?.deletion_due_at ?? null;
  return (
    <Page title="Account and security">
      {dueAt !== null && <Leaving dueAt={dueAt} onKept={account.reload} />}
      <Card title="Account">
        <Loaded resource={account}>{(record) => <Profile account={record} />}</Loaded>
      </Card>
      <PasswordCard onChanged={sessions.reload} />
      <TwoFactorCard onChanged={sessions.reload} />
      <SessionsCard sessions={sessions} />
      {dueAt === null && <Deletion onAsked={account.reload} />}
    </Page>
  );
}

function Profile({ account }: { readonly account: OwnAccountRecord }) {
  const { id, email, email_verified: isVerified, standing, plan, limits, created_at } = account;
  return (
    <Facts
      items={[
        [
          'E-mail address',
          <span class="row" key="email">
            {email}
            <Badge tone={isVerified ? 'good' : 'warning'}>
              {isVerified ? 'Confirmed' : 'Not confirmed'}
            </Badge>
          </span>,
        ],
        [
          'Account',
          <span class="row" key="id">
            <code>{id}</code>
            <CopyButton text={id} label="Copy the account id" />
          </span>,
        ],
        ['Standing', <StateBadge key="standing" state={standing} />],
        ['Created', <Time key="created" at={created_at} detail="day" />],
        [
          'Plan',
          <span key="plan">
            {plan.name} <span class="soft">since</span> <Time at={plan.since} detail="day" />
          </span>,
        ],
        ['Requests a minute', formatCount(limits.requests_per_minute)],
        ['Tokens a minute', formatCount(limits.tokens_per_minute)],
        ['Requests at once', formatCount(limits.concurrent_requests)],
        ['Context', `${formatCount(limits.max_context_tokens)} tokens`],
        ['Active API keys', formatCount(limits.max_active_api_keys)],
        ['Tokens a day', capOf(limits.daily_tokens)],
        ['Tokens a month', capOf(limits.monthly_tokens)],
      ]}
    />
  );
}

function capOf(tokens: number | null): string {
  return tokens === null ? 'No cap' : formatCount(tokens);
}

/** Over an account that is going to be deleted. */
function Leaving({ dueAt, onKept }: { readonly dueAt: string; readonly onKept: () => unknown }) {
  const action = useAction(async () => {
    await remove('/auth/deletion');
    await loadSession();
    toast('The account stays, and its keys work again.');
    await onKept();
  });
  return (
    <>
      <ErrorAlert error={action.error.value} />
      <Alert
        tone="danger"
        title={`This account will be deleted on ${formatInstant(dueAt)}`}
        actions={
          <Button kind="primary" busy={action.busy.value} onClick={() => void action.run()}>
            Keep the account
          </Button>
        }
      >
        Until then its API keys are refused and nothing of it can be changed. Keep it, and all is as
        it was.
      </Alert>
    </>
  );
}

function Deletion({ onAsked }: { readonly onAsked: () => unknown }) {
  const [asks, setAsks] = useState(false);
  const email = session.value?.email ?? '';
  return (
    <Card title="Delete the account" danger>
      <p>
        Your account is deleted two weeks after you ask for it. Until then you can sign in and take
        that back.
      </p>
      <div>
        <Button kind="danger" onClick={() => setAsks(true)}>
          Delete the account
        </Button>
      </div>
      {asks && (
        <ConfirmDialog
          title="Delete your account?"
          danger
          typed={email}
          confirm="Delete the account"
          consequences={[
            'All API keys of the account are refused from now on.',
            'In two weeks your address and your password are removed, the keys are revoked, and what is left of the balance is lost.',
            'What was charged stays in the books of the operator, without your address.',
            'Until then you can sign in here and keep the account.',
          ]}
          act={async () => {
            const { due_at: dueAt } = await post<DeletionRecord>('/auth/deletion');
            await loadSession();
            toast(`The account will be deleted on ${formatInstant(dueAt)}.`);
            await onAsked();
          }}
          onClose={() => setAsks(false)}
        />
      )}
    </Card>
  );
}
