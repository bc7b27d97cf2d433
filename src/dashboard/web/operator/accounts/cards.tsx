// The cards of one account: what it is, what it uses of its limits, and who lets it in.

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
        ['On it since', <Time key="since" at={plan.since} />],
        ['Balance in all', <Tokens key="total" amount={balance.total} />],
        ['Created', <Time key="created" at={created_at} />],
        ['Signs in', signInWords(owner)],
      ]}
    />
  );
}

function signInWords(owner: AccountDetailRecord['owner']): string {
  if (owner === null) return 'Nobody has signed up with its address';
  return owner.two_factor ? 'With a password and a second factor' : 'With a password';
}

export function Limits({ account: { limits, usage } }: { readonly account: AccountDetailRecord }) {
  if (limits === null || usage === null) {
    return (
      <p class="soft">
        The catalog no longer has the plan of this account. Its requests are refused with 503 until
        it has, or until the account is on another plan.
      </p>
    );
  }
  const windows = [
    ['Requests a minute', usage.requests_this_minute.used, limits.requests_per_minute],
    ['Tokens a minute', usage.tokens_this_minute.used, limits.tokens_per_minute],
    ['Requests at once', usage.in_flight, limits.concurrent_requests],
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
        A suspended account is refused and can be activated again. A block refuses it whatever its
        standing is, and can end by itself. Its books are kept in any case.
      </p>
      <div class="row">
        {standing !== 'active' && (
          <Button onClick={() => act('active')}>
            {standing === 'suspended' ? 'Activate' : 'Take the deletion back'}
          </Button>
        )}
        {standing === 'active' && <Button onClick={() => act('suspended')}>Suspend</Button>}
        {blocked ? (
          <Button onClick={() => act('unblock')}>Take the block back</Button>
        ) : (
          <Button onClick={() => act('block')}>Block</Button>
        )}
        {owner?.two_factor && (
          <Button onClick={() => act('drop-factor')}>Turn off the second factor</Button>
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
