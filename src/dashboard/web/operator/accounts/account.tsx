// One account with everything about it: money, limits in use, keys, requests, trail, and all that an
// operator may do to it.

import { useState } from 'preact/hooks';
import type { AccountDetailRecord } from '../../../records/operator-account.ts';
import {
  Button,
  Card,
  CopyButton,
  Facts,
  formatCount,
  Loaded,
  Meter,
  Page,
  type PageProps,
  Stat,
  Stats,
  Time,
  Tokens,
  Usd,
  useResource,
} from '../../ui/index.ts';
import { BlockDialog, type BlockTarget, UnblockDialog } from '../blocks/dialogs.tsx';
import type { AccountAction } from './action.ts';
import { AccountAlerts } from './alerts.tsx';
import { MoneyDialog } from './money.tsx';
import { PlanDialog } from './plan.tsx';
import { AccountBadges, StandingDialog, VerifyDialog } from './standing.tsx';
import { AccountTabs } from './tabs.tsx';

export function AccountPage({ params }: PageProps) {
  const resource = useResource<AccountDetailRecord>(`/accounts/${params['id']}`);
  /** Counts what was done here, so that the lists below are read anew. */
  const [changes, setChanges] = useState(0);
  const account = resource.data.value;
  return (
    <Page
      title={account?.email ?? 'Account'}
      back={{ href: '/accounts', label: 'Accounts' }}
      lead={
        account && (
          <span class="row">
            <AccountBadges account={account} />
            <code>{account.id}</code>
            <CopyButton text={account.id} label="Copy the id of the account" />
          </span>
        )
      }
    >
      <Loaded resource={resource}>
        {(data) => (
          <AccountView
            account={data}
            changes={changes}
            onChange={async () => {
              await resource.reload();
              setChanges((count) => count + 1);
            }}
          />
        )}
      </Loaded>
    </Page>
  );
}

function AccountView({
  account,
  changes,
  onChange,
}: {
  readonly account: AccountDetailRecord;
  readonly changes: number;
  readonly onChange: () => Promise<void>;
}) {
  const [open, setOpen] = useState<AccountAction | undefined>(undefined);
  const { balance, api_keys, usage } = account;
  return (
    <>
      <AccountAlerts account={account} act={setOpen} />
      <Stats>
        <Stat
          label="Available"
          value={<Tokens amount={balance.available} decimals={0} />}
          hint={
            <>
              Service tokens, <Usd amount={balance.available_usd} short />
            </>
          }
        />
        <Stat
          label="Reserved"
          value={<Tokens amount={balance.reserved} decimals={0} />}
          hint="Held for requests that are under way."
        />
        <Stat
          label="Requests under way"
          value={usage === null ? '–' : formatCount(usage.in_flight)}
          hint={
            account.limits && `At most ${formatCount(account.limits.concurrent_requests)} at once.`
          }
        />
        <Stat
          label="Active keys"
          value={formatCount(api_keys.active)}
          unit={`of ${formatCount(api_keys.limit)}`}
        />
      </Stats>
      <div class="grid">
        <Card
          title="Account"
          actions={
            <Button kind="primary" size="small" onClick={() => setOpen('money')}>
              Add or take money
            </Button>
          }
        >
          <AccountFacts account={account} act={setOpen} />
        </Card>
        <Card title="Limits in use">
          <Limits account={account} />
        </Card>
      </div>
      <AccountTabs key={changes} account={account} onChange={onChange} />
      <AccessCard account={account} act={setOpen} />
      <AccountDialog
        account={account}
        open={open}
        onDone={onChange}
        onClose={() => setOpen(undefined)}
      />
    </>
  );
}

type Act = (action: AccountAction) => void;

function AccountFacts({
  account: { plan, created_at, email, balance },
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
      ]}
    />
  );
}

function Limits({ account: { limits, usage } }: { readonly account: AccountDetailRecord }) {
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

function AccessCard({
  account: { standing, blocked },
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
        {standing !== 'pending_deletion' && (
          <Button kind="quiet-danger" onClick={() => act('pending_deletion')}>
            Mark for deletion
          </Button>
        )}
      </div>
    </Card>
  );
}

function AccountDialog({
  account,
  open,
  ...handlers
}: {
  readonly account: AccountDetailRecord;
  readonly open: AccountAction | undefined;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}) {
  const target: BlockTarget = { kind: 'account', value: account.id, called: account.email };
  switch (open) {
    case undefined:
      return null;
    case 'money':
      return <MoneyDialog account={account} {...handlers} />;
    case 'plan':
      return <PlanDialog account={account} {...handlers} />;
    case 'verify':
      return <VerifyDialog account={account} {...handlers} />;
    case 'block':
      return <BlockDialog target={target} {...handlers} />;
    case 'unblock':
      return <UnblockDialog target={target} {...handlers} />;
    default:
      return <StandingDialog account={account} standing={open} {...handlers} />;
  }
}
