// All accounts with what they spent and earned in 30 days: sorted, searched and filtered on the
// server, and exported as CSV.

import { useState } from 'preact/hooks';
import type {
  CreatedAccountRecord,
  ListedAccountRecord,
} from '../../../dashboard/records/operator-account.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { apiUrl, post, withQuery } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Collection, type DialogProps } from '../../ui/collection.tsx';
import { usdColumn } from '../../ui/common-columns.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import {
  CheckField,
  fieldError,
  SelectField,
  type SelectOption,
  TextField,
} from '../../ui/field.tsx';
import { FilterBar, SelectFilter, TypedFilter } from '../../ui/filter-fields.tsx';
import { useClearFilters, useFilter } from '../../ui/filters.ts';
import { formatCount } from '../../ui/format.ts';
import { may } from '../../ui/permission.ts';
import { useAction } from '../../ui/resource.ts';
import { ShownOnceDialog } from '../../ui/shown-once.tsx';
import { type Column, NoMatch } from '../../ui/table.tsx';
import { useSort } from '../../ui/table-sort.ts';
import { Nothing, Time } from '../../ui/text.tsx';
import { usePlans } from './plan.tsx';
import { AccountBadges } from './standing.tsx';

const STANDINGS: readonly SelectOption[] = [
  { value: 'active', label: t('Active') },
  { value: 'suspended', label: t('Suspended') },
  { value: 'pending_deletion', label: t('Pending deletion') },
  { value: 'blocked', label: t('Blocked') },
];

const SORTED = [
  'email',
  'standing',
  'plan',
  'active',
  'created',
  'balance',
  'margin',
  'spent',
] as const;

const VERIFIED: readonly SelectOption[] = [
  { value: 'yes', label: t('Verified') },
  { value: 'no', label: t('Not verified') },
];

export function View() {
  const [text] = useFilter('text');
  const [plan] = useFilter('plan');
  const [standing] = useFilter('standing');
  const [verified] = useFilter('verified');
  const sort = useSort(SORTED, '-created');
  const plans = usePlans();
  const clear = useClearFilters();
  const filter = { text, plan, standing, verified };
  const isFiltered = [text, plan, standing, verified].some((value) => value !== '');
  return (
    <Collection<ListedAccountRecord, CreatedAccountRecord>
      title={t('Accounts')}
      lead={t('Customers, balances, plans and status.')}
      path="/accounts"
      query={filter}
      sort={sort}
      name="accounts"
      href={({ id }) => `/accounts/${id}`}
      empty={{
        title: t('No accounts yet'),
        text: t('Create one for a customer, or let people sign up.'),
      }}
      noMatch={isFiltered && <NoMatch clear={clear} />}
      columns={COLUMNS}
      create={{
        label: t('New account'),
        needs: 'accounts.manage',
        dialog: (dialog) => <CreateAccountDialog plans={plans} {...dialog} />,
      }}
      shown={({ key, account }, onClose) => (
        <ShownOnceDialog
          title={t('Account created')}
          label={t('the key')}
          lines={[key]}
          onClose={onClose}
        >
          {t('The first key of {email}. Send it only to them, over a channel that keeps no copy.', {
            email: account.email,
          })}
        </ShownOnceDialog>
      )}
    >
      <FilterBar clear={isFiltered ? clear : undefined}>
        <TypedFilter
          name="text"
          label={t('Search')}
          placeholder={t('Part of the address, or an id')}
          maxLength={254}
        />
        <SelectFilter name="plan" label={t('Plan')} options={plans} />
        <SelectFilter name="standing" label={t('Status')} options={STANDINGS} />
        <SelectFilter name="verified" label={t('Address')} options={VERIFIED} />
        {may('accounts.export') && (
          <LinkButton download href={apiUrl(withQuery('/accounts/export', filter))}>
            {t('Export as CSV')}
          </LinkButton>
        )}
      </FilterBar>
    </Collection>
  );
}

const COLUMNS: readonly [Column<ListedAccountRecord>, ...Column<ListedAccountRecord>[]] = [
  { label: t('Account'), sort: 'email', show: ({ email }) => email },
  {
    label: t('Status'),
    sort: 'standing',
    card: 'state',
    show: (account) => <AccountBadges account={account} />,
  },
  {
    label: t('Plan'),
    sort: 'plan',
    show: ({ plan }) => <span class="nowrap">{plan.name}</span>,
  },
  {
    label: t('Last active'),
    sort: 'active',
    show: ({ last_active_at: at }) =>
      at === null ? <Nothing>{t('Never')}</Nothing> : <Time at={at} relative />,
  },
  {
    label: t('Created'),
    sort: 'created',
    optional: true,
    show: ({ created_at }) => <Time at={created_at} detail="day" />,
  },
  {
    label: t('Active keys'),
    end: true,
    optional: true,
    card: 'hidden',
    show: ({ api_keys }) =>
      t('{part} of {whole}', {
        part: formatCount(api_keys.active),
        whole: formatCount(api_keys.limit),
      }),
  },
  {
    label: t('Requests, 30 days'),
    end: true,
    optional: true,
    card: 'hidden',
    show: ({ last_30_days: month }) => formatCount(month.requests),
  },
  usdColumn(t('Available'), ({ balance }) => balance.available_usd, {
    card: 'value',
    sort: 'balance',
  }),
  {
    label: t('Margin, 30 days'),
    sort: 'margin',
    end: true,
    show: ({ last_30_days: month }) =>
      month.requests > 0 && month.uncosted === month.requests ? (
        <Nothing>{t('No costs in the catalog')}</Nothing>
      ) : (
        <Amount usd={month.margin_usd} />
      ),
  },
  usdColumn(t('Spent, 30 days'), ({ last_30_days }) => last_30_days.spent_usd, { sort: 'spent' }),
];

function CreateAccountDialog({
  plans,
  onShown,
  onClose,
}: DialogProps<CreatedAccountRecord> & { readonly plans: readonly SelectOption[] }) {
  const [email, setEmail] = useState('');
  const [chosen, setPlan] = useState<string | undefined>(undefined);
  // The plans may arrive after the dialog has opened.
  const plan = chosen ?? plans[0]?.value ?? '';
  const [verified, setVerified] = useState(false);
  const [keyName, setKeyName] = useState('');
  const action = useAction(async () => {
    const body = { email, plan, email_verified: verified, key_name: keyName };
    onShown(await post<CreatedAccountRecord>('/accounts', body));
  });
  return (
    <FormDialog
      title={t('New account')}
      action={action}
      fields={['email', 'plan', 'name']}
      submit={t('Create account')}
      onClose={onClose}
    >
      <TextField
        label={t('E-mail address')}
        type="email"
        required
        maxLength={254}
        value={email}
        onInput={setEmail}
        error={fieldError(action, 'email')}
      />
      <SelectField
        label={t('Plan')}
        options={plans}
        value={plan}
        onChange={setPlan}
        error={fieldError(action, 'plan')}
      />
      <CheckField
        label={t('Mark the address as verified')}
        hint={t('Requests are rejected until the address is verified.')}
        checked={verified}
        onChange={setVerified}
      />
      <TextField
        label={t('Name of the first key')}
        hint={t('The key is shown once, in the next step. The balance starts at 0.')}
        maxLength={100}
        value={keyName}
        onInput={setKeyName}
        error={fieldError(action, 'name')}
      />
    </FormDialog>
  );
}
