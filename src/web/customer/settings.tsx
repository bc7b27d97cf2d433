// The account page: address, plan, limits, password, two-factor authentication, sessions, and
// deletion.

import { useState } from 'preact/hooks';
import type { OwnAccountRecord } from '../../dashboard/records/account.ts';
import type { DeletionRecord, SessionListRecord } from '../../dashboard/records/auth.ts';
import { PasswordCard } from '../auth/password-card.tsx';
import { SessionsCard } from '../auth/sessions-card.tsx';
import { TwoFactorCard } from '../auth/two-factor-card.tsx';
import { t } from '../text/t.ts';
import { post, remove } from '../ui/api.ts';
import { Button, CopyButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { formatCount, formatInstant, tokenCount } from '../ui/format.ts';
import { Alert, Card, ErrorAlert, Facts, Loaded, Page } from '../ui/parts.tsx';
import { useAction, useResource } from '../ui/resource.ts';
import { loadSession, session } from '../ui/session.ts';
import { Badge, StateBadge, Time } from '../ui/text.tsx';
import { toast } from '../ui/toast.tsx';

export function View() {
  const account = useResource<OwnAccountRecord>('/account');
  const sessions = useResource<SessionListRecord>('/auth/sessions');
  const dueAt = session.value?.account?.deletion_due_at ?? null;
  return (
    <Page title={t('Account and security')}>
      {dueAt !== null && <Leaving dueAt={dueAt} onKept={account.reload} />}
      <Card title={t('Account')}>
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
          t('E-mail address'),
          <span class="row" key="email">
            {email}
            <Badge tone={isVerified ? 'good' : 'warning'}>
              {isVerified ? t('Confirmed') : t('Not confirmed')}
            </Badge>
          </span>,
        ],
        [
          t('Account'),
          <span class="row" key="id">
            <code>{id}</code>
            <CopyButton text={id} label={t('Copy account id')} />
          </span>,
        ],
        [t('Status'), <StateBadge key="standing" state={standing} />],
        [t('Created'), <Time key="created" at={created_at} detail="day" />],
        [
          t('Plan'),
          <span key="plan">
            {plan.name} <span class="soft">{t('since')}</span> <Time at={plan.since} detail="day" />
          </span>,
        ],
        [t('Requests per minute'), formatCount(limits.requests_per_minute)],
        [t('Tokens per minute'), formatCount(limits.tokens_per_minute)],
        [t('Concurrent requests'), formatCount(limits.concurrent_requests)],
        [t('Max context'), tokenCount(limits.max_context_tokens)],
        [t('Max active API keys'), formatCount(limits.max_active_api_keys)],
        [t('Tokens per day'), capOf(limits.daily_tokens)],
        [t('Tokens per month'), capOf(limits.monthly_tokens)],
      ]}
    />
  );
}

function capOf(tokens: number | null): string {
  return tokens === null ? t('No limit') : formatCount(tokens);
}

/** Shown on an account pending deletion. */
function Leaving({ dueAt, onKept }: { readonly dueAt: string; readonly onKept: () => unknown }) {
  const action = useAction(async () => {
    await remove('/auth/deletion');
    await loadSession();
    toast(t('Deletion cancelled. Your keys work again.'));
    await onKept();
  });
  return (
    <>
      <ErrorAlert error={action.error.value} />
      <Alert
        tone="danger"
        title={t('This account will be deleted on {dueAt}', { dueAt: formatInstant(dueAt) })}
        actions={
          <Button kind="primary" busy={action.busy.value} onClick={() => void action.run()}>
            {t('Keep account')}
          </Button>
        }
      >
        {t(
          "Until then, its API keys are rejected and it can't be changed. Keep it to restore everything.",
        )}
      </Alert>
    </>
  );
}

function Deletion({ onAsked }: { readonly onAsked: () => unknown }) {
  const [asks, setAsks] = useState(false);
  const email = session.value?.email ?? '';
  return (
    <Card title={t('Delete account')} danger>
      <p>
        {t(
          'Your account is deleted 14 days after you confirm. Until then you can sign in and cancel.',
        )}
      </p>
      <div>
        <Button kind="danger" onClick={() => setAsks(true)}>
          {t('Delete account')}
        </Button>
      </div>
      {asks && (
        <ConfirmDialog
          title={t('Delete your account?')}
          danger
          typed={email}
          confirm={t('Delete account')}
          consequences={[
            t('All your API keys are rejected from now on.'),
            t(
              'In 14 days, your address and password are removed, your keys are revoked, and the remaining balance is lost.',
            ),
            t('Past charges stay in the operator’s ledger without your address.'),
            t('Until then you can sign in here and cancel.'),
          ]}
          act={async () => {
            const { due_at: dueAt } = await post<DeletionRecord>('/auth/deletion');
            await loadSession();
            toast(t('The account will be deleted on {dueAt}.', { dueAt: formatInstant(dueAt) }));
            await onAsked();
          }}
          onClose={() => setAsks(false)}
        />
      )}
    </Card>
  );
}
