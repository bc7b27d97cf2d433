// The audit trail: all changes by users, operators and the system.

import { ACTIONS } from '../shared/audit/labels.ts';
import { AuditTable } from '../shared/audit/table.tsx';
import { t } from '../text/t.ts';
import type { SelectOption } from '../ui/field.tsx';
import { FilterBar, SelectFilter, TypedFilter } from '../ui/filter-fields.tsx';
import { useClearFilters, useFilters } from '../ui/filters.ts';
import { Card, Page } from '../ui/parts.tsx';

const OPTIONS: readonly SelectOption[] = Object.entries(ACTIONS).map(([value, label]) => ({
  value,
  label,
}));

const NAME_LENGTH = 300;

export function View() {
  const [search] = useFilters();
  const clear = useClearFilters();
  const { account = '', actor = '', subject = '', action = '' } = Object.fromEntries(search);
  const query = { account, actor, subject, action };
  const isFiltered = Object.values(query).some((value) => value !== '');
  return (
    <Page
      title={t('Audit trail')}
      lead={t(
        "All changes, with who made them and from where. Entries can't be changed or removed.",
      )}
    >
      <FilterBar clear={isFiltered ? clear : undefined}>
        <SelectFilter name="action" label={t('Change')} options={OPTIONS} />
        <TypedFilter
          name="actor"
          label={t('By')}
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
      </FilterBar>
      <Card flush>
        <AuditTable audience="all" query={query} clear={clear} />
      </Card>
    </Page>
  );
}
