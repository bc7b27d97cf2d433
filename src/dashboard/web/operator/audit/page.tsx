// The audit trail: all changes by users, operators and the system.

import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import type { SelectOption } from '../../ui/field.tsx';
import { SelectFilter, TypedFilter } from '../../ui/filter-fields.tsx';
import { useClearFilters, useFilters } from '../../ui/filters.ts';
import { Card, Page } from '../../ui/parts.tsx';
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

const OPTIONS: readonly SelectOption[] = ACTIONS.map((action) => ({
  value: action,
  label: actionWords(action),
}));

const NAME_LENGTH = 300;

export function View() {
  const [search] = useFilters();
  const clear = useClearFilters();
  const { account = '', actor = '', subject = '', action = '' } = Object.fromEntries(search);
  const query = { account, actor, subject, action };
  return (
    <Page
      title={t('Audit trail')}
      lead={t(
        "All changes, with who made them and from where. Entries can't be changed or removed.",
      )}
    >
      <div class="filters">
        <SelectFilter name="action" label={t('Action')} options={OPTIONS} />
        <TypedFilter
          name="actor"
          label={t('Actor')}
          placeholder={t("Operator's address")}
          maxLength={NAME_LENGTH}
        />
        <TypedFilter
          name="account"
          label={t('Account')}
          placeholder={t('Address or id')}
          maxLength={NAME_LENGTH}
        />
        <TypedFilter
          name="subject"
          label={t('About')}
          placeholder={t('Id of a key, an entry, …')}
          maxLength={NAME_LENGTH}
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
