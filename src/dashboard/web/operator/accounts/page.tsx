// All accounts, newest first, with search by address or id and filters by plan and status.

import type {
  CreatedAccountRecord,
  OperatorAccountRecord,
} from '../../../records/operator-account.ts';
import {
  Collection,
  type Column,
  formatCount,
  NoMatch,
  SelectField,
  type SelectOption,
  TextField,
  Time,
  Tokens,
} from '../../ui/index.ts';
import { useClearFilters, useFilter, useTypedFilter } from '../filters.ts';
import { ShownOnceDialog } from '../shown-once.tsx';
import { CreateAccountDialog } from './create.tsx';
import { usePlans } from './plan.tsx';
import { AccountBadges } from './standing.tsx';

const STANDINGS: readonly SelectOption[] = [
  { value: '', label: 'Any' },
  { value: 'active', label: 'Active' },
  { value: 'suspended', label: 'Suspended' },
  { value: 'pending_deletion', label: 'Pending deletion' },
  { value: 'blocked', label: 'Blocked' },
];

const VERIFIED: readonly SelectOption[] = [
  { value: '', label: 'Any' },
  { value: 'yes', label: 'Verified' },
  { value: 'no', label: 'Not verified' },
];

export function AccountsPage() {
  const { value: text, typed, setTyped } = useTypedFilter('text');
  const [plan, setPlan] = useFilter('plan');
  const [standing, setStanding] = useFilter('standing');
  const [verified, setVerified] = useFilter('verified');
  const plans = usePlans();
  const clear = useClearFilters();
  const isFiltered = [text, plan, standing, verified].some((value) => value !== '');
  const clearAll = () => {
    setTyped('');
    clear();
  };
  return (
    <Collection<OperatorAccountRecord, CreatedAccountRecord>
      title="Accounts"
      lead="Customers, balances, plans and status."
      path="/accounts"
      query={{ text, plan, standing, verified }}
      href={({ id }) => `/accounts/${id}`}
      empty={{
        title: 'No accounts yet',
        text: 'Create one for a customer, or let people sign up.',
      }}
      noMatch={isFiltered && <NoMatch clear={clearAll} />}
      columns={COLUMNS}
      create={{
        label: 'New account',
        dialog: (dialog) => <CreateAccountDialog plans={plans} {...dialog} />,
      }}
      shown={({ key, account }, onClose) => (
        <ShownOnceDialog title="Account created" label="the key" lines={[key]} onClose={onClose}>
          The first key of {account.email}. Send it only to them, over a channel that keeps no copy.
        </ShownOnceDialog>
      )}
    >
      <div class="filters">
        <TextField
          label="Search"
          type="search"
          wide
          placeholder="Part of the address, or an id"
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
        <SelectField label="Status" options={STANDINGS} value={standing} onChange={setStanding} />
        <SelectField label="Address" options={VERIFIED} value={verified} onChange={setVerified} />
      </div>
    </Collection>
  );
}

const COLUMNS: readonly [Column<OperatorAccountRecord>, ...Column<OperatorAccountRecord>[]] = [
  { label: 'Account', show: ({ email }) => email },
  { label: 'Status', show: (account) => <AccountBadges account={account} /> },
  { label: 'Plan', show: ({ plan }) => <span class="nowrap">{plan.name}</span> },
  {
    label: 'Available',
    end: true,
    show: ({ balance }) => <Tokens amount={balance.available} decimals={2} />,
  },
  {
    label: 'Active keys',
    end: true,
    show: ({ api_keys }) => `${formatCount(api_keys.active)} of ${formatCount(api_keys.limit)}`,
  },
  { label: 'Created', show: ({ created_at }) => <Time at={created_at} detail="day" /> },
];
