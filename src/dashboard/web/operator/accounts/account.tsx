// One account: balance, limits, keys, requests, audit trail, and all operator actions.

import { useState } from 'preact/hooks';
import type { AccountDetailRecord } from '../../../records/operator-account.ts';
import {
  Button,
  Card,
  CopyButton,
  formatCount,
  Loaded,
  Page,
  type PageProps,
  Stat,
  Stats,
  Tokens,
  Usd,
  useResource,
} from '../../ui/index.ts';
import { BlockDialog, type BlockTarget, UnblockDialog } from '../blocks/dialogs.tsx';
import type { AccountAction } from './action.ts';
import { AccountAlerts } from './alerts.tsx';
import { AccessCard, AccountFacts, Limits } from './cards.tsx';
import { MoneyDialog } from './money.tsx';
import { PlanDialog } from './plan.tsx';
import { DropFactorDialog, VerifyDialog } from './sign-in.tsx';
import { AccountBadges, StandingDialog } from './standing.tsx';
import { AccountTabs } from './tabs.tsx';

export function AccountPage({ params }: PageProps) {
  const resource = useResource<AccountDetailRecord>(`/accounts/${params['id']}`);
  /** Incremented by each action, so that the lists below reload. */
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
            <CopyButton text={account.id} label="Copy account id" />
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
          hint="For active requests"
        />
        <Stat
          label="Active requests"
          value={usage === null ? '–' : formatCount(usage.in_flight)}
          hint={account.limits && `of ${formatCount(account.limits.concurrent_requests)}`}
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
              Adjust balance
            </Button>
          }
        >
          <AccountFacts account={account} act={setOpen} />
        </Card>
        <Card title="Limits">
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
    case 'drop-factor':
      return <DropFactorDialog account={account} {...handlers} />;
    default:
      return <StandingDialog account={account} standing={open} {...handlers} />;
  }
}
