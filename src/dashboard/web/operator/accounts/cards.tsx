// The cards of one account: details, limits and their usage, access.

import type { AccountDetailRecord } from '../../../records/operator-account.ts';
import { Button, Card, Facts, formatCount, Meter, Time, Tokens } from '../../ui/index.ts';
import type { AccountAction } from './action.ts';

type Act = (action: AccountAction) => void;

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
        ['E-mail address', email],
        [
          'Plan',
          <span class="row" key="plan">
            {plan.name}
            <Button size="small" kind="quiet" onClick={() => act('plan')}>
              Change
            </Button>
          </span>,
        ],
        ['Plan since', <Time key="since" at={plan.since} />],
        ['Total balance', <Tokens key="total" amount={balance.total} />],
        ['Created', <Time key="created" at={created_at} />],
        ['Sign-in', signInWords(owner)],
      ]}
    />
  );
}

function signInWords(owner: AccountDetailRecord['owner']): string {
  if (owner === null) return 'No user has signed up with its address';
  return owner.two_factor ? 'Password and two-factor authentication' : 'Password';
}

export function Limits({ account: { limits, usage } }: { readonly account: AccountDetailRecord }) {
  if (limits === null || usage === null) {
    return (
      <p class="soft">
        The catalog no longer contains this account's plan. Its requests are rejected with 503 until
        you restore the plan or change it.
      </p>
    );
  }
  const windows = [
    ['Requests per minute', usage.requests_this_minute.used, limits.requests_per_minute],
    ['Tokens per minute', usage.tokens_this_minute.used, limits.tokens_per_minute],
    ['Concurrent requests', usage.in_flight, limits.concurrent_requests],
    ['Tokens today', usage.today.tokens, limits.daily_tokens],
    ['Tokens this month', usage.month.tokens, limits.monthly_tokens],
  ] as const;
  return (
    <>
      {windows.map(([label, used, limit]) =>
        limit === null ? (
          <div class="row apart" key={label}>
            <span>{label}</span>
            <span class="soft">{formatCount(used)}, no limit</span>
          </div>
        ) : (
          <Meter
            key={label}
            label={label}
            used={used}
            limit={limit}
            text={`${formatCount(used)} of ${formatCount(limit)}`}
          />
        ),
      )}
    </>
  );
}

export function AccessCard({
  account: { standing, blocked, owner },
  act,
}: {
  readonly account: AccountDetailRecord;
  readonly act: Act;
}) {
  return (
    <Card title="Access" danger>
      <p class="soft">
        Suspending rejects all requests until you activate the account. A block does the same and
        can expire. Ledger entries are always kept.
      </p>
      <div class="row">
        {standing !== 'active' && (
          <Button onClick={() => act('active')}>
            {standing === 'suspended' ? 'Activate' : 'Cancel deletion'}
          </Button>
        )}
        {standing === 'active' && <Button onClick={() => act('suspended')}>Suspend</Button>}
        {blocked ? (
          <Button onClick={() => act('unblock')}>Unblock</Button>
        ) : (
          <Button onClick={() => act('block')}>Block</Button>
        )}
        {owner?.two_factor && (
          <Button onClick={() => act('drop-factor')}>Turn off two-factor authentication</Button>
        )}
        {standing !== 'pending_deletion' && (
          <Button kind="quiet-danger" onClick={() => act('pending_deletion')}>
            Mark for deletion
          </Button>
        )}
      </div>
    </Card>
  );
}
