// The audit trail: all changes by users, operators and the system.

import { t } from '../../text/t.ts';
import { Button, Card, Page, SelectField, type SelectOption, TextField } from '../../ui/index.ts';
import { useClearFilters, useFilter, useTypedFilter } from '../filters.ts';
import { actionWords } from './labels.ts';
import { AuditTable } from './table.tsx';

/** The most useful actions; the list contains all others too. */
const ACTIONS = [
  'account.created',
  'account.plan_changed',
  'account.standing_changed',
  'account.email_verified',
  'api_key.created',
  'api_key.revoked',
  'money.credited',
  'money.granted',
  'money.adjusted',
  'code.created',
  'code.revoked',
  'code.redeemed',
  'block.added',
  'block.removed',
  'setting.changed',
  'incident.set',
  'incident.cleared',
  'upstream.disabled',
  'upstream.enabled',
  'upstream.tested',
  'prices.published',
  'catalog.edited',
  'catalog.reload_requested',
  'invite.created',
  'user.created',
  'user.signed_in',
  'user.two_factor_disabled',
] as const;

const OPTIONS: readonly SelectOption[] = [
  { value: '', label: t('Any') },
  ...ACTIONS.map((action) => ({ value: action, label: actionWords(action) })),
];

export function AuditPage() {
  const account = useTypedFilter('account');
  const actor = useTypedFilter('actor');
  const subject = useTypedFilter('subject');
  const [action, setAction] = useFilter('action');
  const clearAll = useClearFilters();
  const clear = () => {
    for (const { setTyped } of [account, actor, subject]) setTyped('');
    clearAll();
  };
  const query = {
    account: account.value,
    actor: actor.value,
    subject: subject.value,
    action,
  };
  return (
    <Page
      title={t('Audit trail')}
      lead={t(
        "All changes, with who made them and from where. Entries can't be changed or removed.",
      )}
    >
      <div class="filters">
        <SelectField label={t('Action')} options={OPTIONS} value={action} onChange={setAction} />
        <TextField
          label={t('Actor')}
          type="search"
          placeholder={t("Operator's address")}
          maxLength={300}
          value={actor.typed}
          onInput={actor.setTyped}
        />
        <TextField
          label={t('Account')}
          type="search"
          placeholder={t('Address or id')}
          maxLength={300}
          value={account.typed}
          onInput={account.setTyped}
        />
        <TextField
          label={t('About')}
          type="search"
          placeholder={t('Id of a key, an entry, …')}
          maxLength={300}
          value={subject.typed}
          onInput={subject.setTyped}
        />
        {Object.values(query).some((value) => value !== '') && (
          <Button onClick={clear}>{t('Clear filters')}</Button>
        )}
      </div>
      <Card flush>
        <AuditTable query={query} clear={clear} />
      </Card>
    </Page>
  );
}
