// The audit trail: everything that anybody has changed.

import { Button, Card, Page, SelectField, type SelectOption, TextField } from '../../ui/index.ts';
import { useClearFilters, useFilter, useTypedFilter } from '../filters.ts';
import { actionWords } from './labels.ts';
import { AuditTable } from './table.tsx';

/** Those that an operator looks for; the list has all the others too. */
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
  'prices.published',
  'catalog.reload_requested',
  'invite.created',
  'user.created',
  'user.signed_in',
  'user.two_factor_disabled',
] as const;

const OPTIONS: readonly SelectOption[] = [
  { value: '', label: 'Any' },
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
      title="Audit trail"
      lead="Everything that anybody has changed, by whom and from where. Nothing of it can be altered or removed."
    >
      <div class="filters">
        <SelectField label="What" options={OPTIONS} value={action} onChange={setAction} />
        <TextField
          label="Who"
          type="search"
          placeholder="An operator's address"
          maxLength={300}
          value={actor.typed}
          onInput={actor.setTyped}
        />
        <TextField
          label="Account"
          type="search"
          placeholder="Its address or id"
          maxLength={300}
          value={account.typed}
          onInput={account.setTyped}
        />
        <TextField
          label="About"
          type="search"
          placeholder="The id of a key, a movement, …"
          maxLength={300}
          value={subject.typed}
          onInput={subject.setTyped}
        />
        {Object.values(query).some((value) => value !== '') && (
          <Button onClick={clear}>Clear filters</Button>
        )}
      </div>
      <Card flush>
        <AuditTable query={query} clear={clear} />
      </Card>
    </Page>
  );
}
