// All accounts: looked for by address, id, plan and standing, newest first.

import { useState } from 'preact/hooks';
import type {
  CreatedAccountRecord,
  OperatorAccountRecord,
} from '../../../records/operator-account.ts';
import {
  Button,
  Card,
  Empty,
  formatCount,
  ListTable,
  NoMatch,
  type Option,
  Page,
  SelectField,
  TextField,
  Time,
  Tokens,
  useList,
} from '../../ui/index.ts';
import { useClearFilters, useFilter, useTypedFilter } from '../filters.ts';
import { ShownOnceDialog } from '../shown-once.tsx';
import { CreateAccountDialog } from './create.tsx';
import { usePlans } from './plan.tsx';
import { AccountBadges } from './standing.tsx';

const STANDINGS: readonly Option[] = [
  { value: '', label: 'Any' },
  { value: 'active', label: 'Active' },
  { value: 'suspended', label: 'Suspended' },
  { value: 'pending_deletion', label: 'Pending deletion' },
  { value: 'blocked', label: 'Blocked' },
];

const VERIFIED: readonly Option[] = [
  { value: '', label: 'Any' },
  { value: 'yes', label: 'Verified' },
  { value: 'no', label: 'Not verified' },
];

export function AccountsPage() {
  const { value: text, typed, setTyped } = useTypedFilter('text');
  const [plan, setPlan] = useFilter('plan');
  const [standing, setStanding] = useFilter('standing');
  const [verified, setVerified] = useFilter('verified');
  const list = useList<OperatorAccountRecord>('/accounts', { text, plan, standing, verified });
  const plans = usePlans();
  const clear = useClearFilters();
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedAccountRecord | undefined>(undefined);
  const isFiltered = [text, plan, standing, verified].some((value) => value !== '');
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      New account
    </Button>
  );
  return (
    <Page
      title="Accounts"
      lead="Everybody who buys here: what they have, what they may, and how they stand."
      actions={create}
    >
      <div class="filters">
        <TextField
          label="Search"
          type="search"
          wide
          placeholder="A part of the address, or an id"
          maxLength={254}
          value={typed}
          onInput={setTyped}
        />
        <SelectField
          label="Plan"
          options={[{ value: '', label: 'Any' }, ...plans]}
          value={plan}
          onChange={setPlan}
        />
        <SelectField label="Standing" options={STANDINGS} value={standing} onChange={setStanding} />
        <SelectField label="Address" options={VERIFIED} value={verified} onChange={setVerified} />
      </div>
      <Card flush>
        <ListTable
          caption="Accounts"
          list={list}
          rowKey={({ id }) => id}
          href={({ id }) => `/accounts/${id}`}
          empty={
            isFiltered ? (
              <NoMatch
                clear={() => {
                  setTyped('');
                  clear();
                }}
              />
            ) : (
              <Empty title="No accounts yet" action={create}>
                Create one for a customer, or let people sign up.
              </Empty>
            )
          }
          columns={[
            { label: 'Account', show: ({ email }) => email },
            { label: 'Standing', show: (account) => <AccountBadges account={account} /> },
            { label: 'Plan', show: ({ plan: on }) => <span class="nowrap">{on.name}</span> },
            {
              label: 'Available',
              end: true,
              show: ({ balance }) => <Tokens amount={balance.available} decimals={2} />,
            },
            {
              label: 'Active keys',
              end: true,
              show: ({ api_keys }) =>
                `${formatCount(api_keys.active)} of ${formatCount(api_keys.limit)}`,
            },
            { label: 'Created', show: ({ created_at }) => <Time at={created_at} detail="day" /> },
          ]}
        />
      </Card>
      {creating && (
        <CreateAccountDialog
          plans={plans}
          onClose={() => setCreating(false)}
          onCreated={(made) => {
            setCreating(false);
            setCreated(made);
            void list.reload();
          }}
        />
      )}
      {created && (
        <ShownOnceDialog
          title="The account is there"
          label="the key"
          lines={[created.key]}
          onClose={() => setCreated(undefined)}
        >
          This is the first key of {created.account.email}. Give it to nobody else, and by no
          channel that keeps it.
        </ShownOnceDialog>
      )}
    </Page>
  );
}
