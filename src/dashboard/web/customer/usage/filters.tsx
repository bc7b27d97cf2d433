// The filters of the usage page: by key, model and end user at once.

import type { RequestFiltersRecord } from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { ComboboxField } from '../../ui/combobox.tsx';
import { SentField, withOwn } from '../../ui/request-filters.tsx';
import { useResource } from '../../ui/resource.ts';
import type { UsageFilter } from '../../ui/usage-chart.ts';
import { keyOptions, modelOptions } from '../requests/filters.tsx';

export function UsageFilters({
  filter,
  onChange,
}: {
  readonly filter: UsageFilter;
  readonly onChange: (filter: Partial<UsageFilter>) => void;
}) {
  const choices = useResource<RequestFiltersRecord>('/requests/filters').data.value;
  const isFiltered = Object.values(filter).some((value) => value !== '');
  return (
    <div class="filters">
      <ComboboxField
        label={t('Model')}
        value={filter.model}
        options={withOwn(filter.model, modelOptions(choices))}
        onChange={(model) => onChange({ model })}
      />
      <ComboboxField
        label={t('Key')}
        value={filter.key}
        options={withOwn(filter.key, keyOptions(choices))}
        onChange={(key) => onChange({ key })}
      />
      <SentField
        label={t('End user')}
        placeholder={t('Exactly as sent')}
        value={filter.end_user}
        onSend={(end_user) => onChange({ end_user })}
      />
      {isFiltered && (
        <Button kind="quiet" onClick={() => onChange({ model: '', key: '', end_user: '' })}>
          {t('Clear filters')}
        </Button>
      )}
    </div>
  );
}
