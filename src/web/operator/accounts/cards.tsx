// The cards of one account: details, limits and their usage, access.

import type { AccountDetailRecord } from '../../../dashboard/records/operator-account.ts';
import { LimitMeters } from '../../shared/limits.tsx';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, Facts } from '../../ui/parts.tsx';
import { Time } from '../../ui/text.tsx';
import type { AccountAction } from './action.ts';

type Act = (action: AccountAction) => void;

type Look = Pick<Parameters<typeof Button>[0], 'kind' | 'size'>;

/** Makes buttons that open the dialogs of actions. */
export function buttonsFor(act: Act) {
  return (action: AccountAction, label: string, look: Look = {}) => (
    <Button
      {...look}
      needs={action === 'block' || action === 'unblock' ? 'blocks.manage' : 'accounts.manage'}
      onClick={() => act(action)}
    >
      {label}
    </Button>
  );
}

export function AccountFacts({
  account: { plan, created_at, email, balance, owner },
  act,
}: {
  readonly account: AccountDetailRecord;
  readonly act: Act;
}) {
  return (
    <Facts
      items={[
        [t('E-mail address'), email],
        [
          t('Plan'),
          <span class="row" key="plan">
            {plan.name}
            {buttonsFor(act)('plan', t('Change plan'), { size: 'small', kind: 'quiet' })}
          </span>,
        ],
        [t('Plan since'), <Time key="since" at={plan.since} />],
        [t('Total balance'), <Amount key="total" tokens={balance.total} detail="exact" />],
        [t('Created'), <Time key="created" at={created_at} />],
        [t('Sign-in'), signInWords(owner)],
      ]}
    />
  );
}

function signInWords(owner: AccountDetailRecord['owner']): string {
  if (owner === null) return t('No user has signed up with its address');
  return owner.two_factor ? t('Password and two-factor authentication') : t('Password');
}

export function Limits({ account: { limits, usage } }: { readonly account: AccountDetailRecord }) {
  if (limits === null || usage === null) {
    return (
      <p class="soft">
        {t(
          "The catalog no longer contains this account's plan. Its requests are rejected with 503 until you restore the plan or change it.",
        )}
      </p>
    );
  }
  return <LimitMeters limits={limits} usage={usage} />;
}

export function AccessCard({
  account: { standing: shown, standing_without_block: standing, owner },
  act,
}: {
  readonly account: AccountDetailRecord;
  readonly act: Act;
}) {
  const button = buttonsFor(act);
  return (
    <Card title={t('Access')} danger>
      <p class="soft">
        {t(
          'Suspending rejects all requests until you activate the account. A block does the same and can expire. Ledger entries are always kept.',
        )}
      </p>
      <div class="row">
        {standing !== 'active' &&
          button('active', standing === 'suspended' ? t('Activate') : t('Cancel deletion'))}
        {standing === 'active' && button('suspended', t('Suspend'))}
        {shown === 'blocked' ? button('unblock', t('Unblock')) : button('block', t('Block'))}
        {owner?.two_factor && button('drop-factor', t('Turn off two-factor authentication'))}
        {standing !== 'pending_deletion' &&
          button('pending_deletion', t('Mark for deletion'), { kind: 'quiet-danger' })}
      </div>
    </Card>
  );
}
