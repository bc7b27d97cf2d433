// One account: balance, limits, keys, requests, audit trail, and all operator actions.

import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import type { UsageMeasure, UsageRecord } from '../../../dashboard/records/customer-usage.ts';
import type {
  AccountDetailRecord,
  OperatorAccountRecord,
} from '../../../dashboard/records/operator-account.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount, OtherAmount } from '../../ui/amount.tsx';
import { post, remove, withQuery } from '../../ui/api.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { formatCount } from '../../ui/format.ts';
import type { PageProps } from '../../ui/page.ts';
import { Card, Empty, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Segments } from '../../ui/tabs.tsx';
import { chartOf, MEASURES, titleOf } from '../../ui/usage-chart.ts';
import { BlockDialog, type BlockTarget, UnblockDialog } from '../blocks/dialogs.tsx';
import type { AccountAction, AccountDialogProps } from './action.ts';
import { AccountAlerts } from './alerts.tsx';
import { AccessCard, AccountFacts, Limits } from './cards.tsx';
import { MoneyDialog } from './money.tsx';
import { PlanDialog } from './plan.tsx';
import { AccountBadges, StandingDialog } from './standing.tsx';
import { AccountTabs } from './tabs.tsx';

export function View({ params }: PageProps) {
  const resource = useResource<AccountDetailRecord>(`/accounts/${params['id']}`);
  /** Incremented by each action, so that the lists below reload. */
  const [changes, setChanges] = useState(0);
  const account = resource.data.value;
  return (
    <Page
      title={account?.email ?? t('Account')}
      back={{ href: '/accounts', label: t('Accounts') }}
      lead={
        account && (
          <span class="row">
            <AccountBadges account={account} />
            <code>{account.id}</code>
            <CopyButton text={account.id} label={t('Copy account id')} />
          </span>
        )
      }
    >
      <Loaded resource={resource}>
        {(data) => (
          <AccountView
            account={data}
            changes={changes}
            reload={resource.reload}
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
  reload,
  onChange,
}: {
  readonly account: AccountDetailRecord;
  readonly changes: number;
  /** Reloads the account alone. */
  readonly reload: () => Promise<void>;
  /** Reloads the account and all lists. */
  readonly onChange: () => Promise<void>;
}) {
  const [open, setOpen] = useState<AccountAction | undefined>(undefined);
  const Dialog = open && DIALOGS[open];
  const { balance, api_keys, usage } = account;
  return (
    <>
      <AccountAlerts account={account} act={setOpen} />
      <Stats>
        <Stat
          label={t('Available')}
          value={<Amount tokens={balance.available} usd={balance.available_usd} />}
          hint={<OtherAmount tokens={balance.available} usd={balance.available_usd} />}
        />
        <Stat
          label={t('Reserved')}
          value={<Amount tokens={balance.reserved} />}
          hint={t('For active requests')}
        />
        <Stat
          label={t('Active requests')}
          value={usage === null ? '–' : formatCount(usage.in_flight)}
          unit={
            account.limits &&
            t('of {limit}', { limit: formatCount(account.limits.concurrent_requests) })
          }
        />
        <Stat
          label={t('Active keys')}
          value={formatCount(api_keys.active)}
          unit={t('of {limit}', { limit: formatCount(api_keys.limit) })}
        />
      </Stats>
      <div class="grid">
        <Card
          title={t('Account')}
          actions={
            <Button kind="primary" size="small" needs="money.move" onClick={() => setOpen('money')}>
              {t('Adjust balance')}
            </Button>
          }
        >
          <AccountFacts account={account} act={setOpen} />
        </Card>
        <Card title={t('Limits')}>
          <Limits account={account} />
        </Card>
      </div>
      <AccountUsage key={`usage ${changes}`} id={account.id} />
      <AccountTabs key={changes} account={account} onKeysChange={reload} />
      <AccessCard account={account} act={setOpen} />
      {Dialog && <Dialog account={account} onDone={onChange} onClose={() => setOpen(undefined)} />}
    </>
  );
}

const targetOf = ({ id, email }: OperatorAccountRecord): BlockTarget => {
  return { kind: 'account', value: id, called: email };
};

const DIALOGS: Readonly<Record<AccountAction, ComponentType<AccountDialogProps>>> = {
  money: MoneyDialog,
  plan: PlanDialog,
  verify: VerifyDialog,
  'drop-factor': DropFactorDialog,
  block: ({ account, ...props }) => <BlockDialog target={targetOf(account)} {...props} />,
  unblock: ({ account, ...props }) => <UnblockDialog target={targetOf(account)} {...props} />,
  active: (props) => <StandingDialog standing="active" {...props} />,
  suspended: (props) => <StandingDialog standing="suspended" {...props} />,
  pending_deletion: (props) => <StandingDialog standing="pending_deletion" {...props} />,
};

const NO_FILTER = { model: '', key: '', end_user: '' };

function AccountUsage({ id }: { readonly id: string }) {
  const [measure, setMeasure] = useState<UsageMeasure>('spent');
  const usage = useResource<UsageRecord>(
    withQuery(`/accounts/${id}/usage/series`, {
      days: '30',
      step: 'day',
      group_by: 'model',
      measure,
    }),
  );
  return (
    <Card
      title={titleOf(measure, 'day')}
      actions={
        <Segments<UsageMeasure>
          label={t('Chart')}
          choices={MEASURES}
          active={measure}
          onChange={setMeasure}
        />
      }
    >
      <Loaded resource={usage} lines={6}>
        {(data) =>
          data.total.requests === 0 ? (
            <Empty title={t('No requests')}>{t('No requests in this period.')}</Empty>
          ) : (
            <Chart key={measure} {...chartOf(data, measure, { ...NO_FILTER, account: id })} />
          )
        }
      </Loaded>
    </Card>
  );
}

function VerifyDialog({ account, ...dialog }: AccountDialogProps) {
  return (
    <ConfirmDialog
      title={t('Mark the address as verified?')}
      confirm={t('Mark as verified')}
      consequences={[
        rich('You confirm that {email} belongs to the owner of this account.', {
          email: <strong>{account.email}</strong>,
        }),
        t('Its requests are no longer rejected with 403 email_not_verified.'),
      ]}
      act={() => post(`/accounts/${account.id}/verify`)}
      done={t('Address marked as verified.')}
      {...dialog}
    />
  );
}

function DropFactorDialog({ account, ...dialog }: AccountDialogProps) {
  return (
    <ConfirmDialog
      title={t('Turn off two-factor authentication?')}
      danger
      confirm={t('Turn off')}
      consequences={[
        rich('{email} can sign in with the password alone.', {
          email: <strong>{account.email}</strong>,
        }),
        t(
          'Do this only after you verified the owner’s identity by other means than their mailbox.',
        ),
        t('All its sessions end, and its recovery codes stop working.'),
        t('The owner can turn it on again.'),
      ]}
      act={() => remove(`/accounts/${account.id}/second-factor`)}
      done={t('Two-factor authentication is off.')}
      {...dialog}
    />
  );
}
