// The filters of the request list, kept in the page's address, and the query they send. A search by
// id ignores the other filters.

import type { RequestFiltersRecord } from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { ComboboxField } from '../../ui/combobox.tsx';
import { SelectField, type SelectOption } from '../../ui/field.tsx';
import {
  LinkedModels,
  OutcomeFilters,
  SentField,
  TimeField,
  timeQuery,
  withOwn,
} from '../../ui/request-filters.tsx';

export const FILTERS = [
  ...(['id', 'model', 'key', 'outcome', 'status', 'code', 'end_user'] as const),
  /** Set by links from usage: exactly the model that served, and the requested one. */
  ...(['served', 'requested'] as const),
  ...(['days', 'from', 'to'] as const),
];

export type FilterName = (typeof FILTERS)[number];

/** Empty means no filter. `from` and `to` win over `days`. */
export type FilterValues = Readonly<Record<FilterName, string>>;

export function queryOf(values: FilterValues): Readonly<Record<string, string>> {
  const { id, days, from, to, ...kind } = values;
  return id === '' ? { ...kind, ...timeQuery({ days, from, to }) } : { id };
}

export function Filters({
  values,
  choices,
  onChange,
  onClear,
}: {
  readonly values: FilterValues;
  readonly choices: RequestFiltersRecord | undefined;
  readonly onChange: (changes: Partial<Record<FilterName, string>>) => void;
  /** Absent without a filter. */
  readonly onClear?: () => void;
}) {
  return (
    <div class="filters">
      <SentField
        label={t('Request id')}
        placeholder={t('req_…')}
        value={values.id}
        onSend={(id) => onChange({ id })}
      />
      <TimeField time={values} onChange={onChange} />
      <SelectField
        label={t('Model')}
        value={values.model}
        options={withOwn(values.model, modelOptions(choices))}
        onChange={(model) => onChange({ model })}
      />
      <LinkedModels {...values} onChange={onChange} />
      <ComboboxField
        label={t('Key')}
        value={values.key}
        options={withOwn(values.key, keyOptions(choices))}
        onChange={(key) => onChange({ key })}
      />
      <OutcomeFilters {...values} onChange={onChange} />
      <SentField
        label={t('End user')}
        placeholder={t('Exactly as sent')}
        value={values.end_user}
        onSend={(user) => onChange({ end_user: user })}
      />
      {onClear && (
        <Button kind="quiet" onClick={onClear}>
          {t('Clear filters')}
        </Button>
      )}
    </div>
  );
}

export function modelOptions(choices: RequestFiltersRecord | undefined): readonly SelectOption[] {
  return (choices?.models ?? []).map((slug) => ({ value: slug, label: slug }));
}

export function keyOptions(choices: RequestFiltersRecord | undefined): readonly SelectOption[] {
  return (choices?.keys ?? []).map(({ id, name, masked }) => ({
    value: id,
    label: name ?? masked,
  }));
}
