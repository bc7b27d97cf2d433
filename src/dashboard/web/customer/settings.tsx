// The account page: address, plan, limits, password, two-factor authentication, sessions, and
// deletion.

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
            <CopyButton text={id} label="Copy account id" />
          </span>,
        ],
        ['Status', <StateBadge key="standing" state={standing} />],
        ['Created', <Time key="created" at={created_at} detail="day" />],
        [
          'Plan',
          <span key="plan">
            {plan.name} <span class="soft">since</span> <Time at={plan.since} detail="day" />
          </span>,
        ],
        ['Requests per minute', formatCount(limits.requests_per_minute)],
        ['Tokens per minute', formatCount(limits.tokens_per_minute)],
        ['Concurrent requests', formatCount(limits.concurrent_requests)],
        ['Max context', `${formatCount(limits.max_context_tokens)} tokens`],
        ['Max active API keys', formatCount(limits.max_active_api_keys)],
        ['Tokens per day', capOf(limits.daily_tokens)],
        ['Tokens per month', capOf(limits.monthly_tokens)],
      ]}
    />
  );
}

function capOf(tokens: number | null): string {
  return tokens === null ? 'No limit' : formatCount(tokens);
}

/** Shown on an account pending deletion. */
function Leaving({ dueAt, onKept }: { readonly dueAt: string; readonly onKept: () => unknown }) {
  const action = useAction(async () => {
    await remove('/auth/deletion');
    await loadSession();
    toast('Deletion cancelled. Your keys work again.');
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
            Keep account
          </Button>
        }
      >
        Until then, its API keys are rejected and it can't be changed. Keep it to restore
        everything.
      </Alert>
    </>
  );
}

function Deletion({ onAsked }: { readonly onAsked: () => unknown }) {
  const [asks, setAsks] = useState(false);
  const email = session.value?.email ?? '';
  return (
    <Card title="Delete account" danger>
      <p>
        Your account is deleted 14 days after you confirm. Until then you can sign in and cancel.
      </p>
      <div>
        <Button kind="danger" onClick={() => setAsks(true)}>
          Delete account
        </Button>
      </div>
      {asks && (
        <ConfirmDialog
          title="Delete your account?"
          danger
          typed={email}
          confirm="Delete account"
          consequences={[
            'All your API keys are rejected from now on.',
            'In 14 days, your address and password are removed, your keys are revoked, and the remaining balance is lost.',
            'Past charges stay in the operator’s ledger without your address.',
            'Until then you can sign in here and cancel.',
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
