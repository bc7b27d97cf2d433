// The filters of the usage page: by key, model and end user at once.

import { useState } from 'preact/hooks';
import type { RequestFiltersRecord } from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { Button, ComboboxField, TextField, useResource } from '../../ui/index.ts';
import type { UsageFilter } from '../../ui/usage-chart.ts';

export function UsageFilters({
  filter,
  onChange,
}: {
  readonly filter: UsageFilter;
  readonly onChange: (filter: Partial<UsageFilter>) => void;
}) {
  const choices = useResource<RequestFiltersRecord>('/requests/filters').data.value;
  const models = (choices?.models ?? []).map((slug) => ({ value: slug, label: slug }));
  const keys = (choices?.keys ?? []).map(({ id, name, masked }) => ({
    value: id,
    label: name ?? masked,
  }));
  const isFiltered = Object.values(filter).some((value) => value !== '');
  return (
    <div class="filters">
      <ComboboxField
        label={t('Model')}
        value={filter.model}
        options={withAny(filter.model, models)}
        onChange={(model) => onChange({ model })}
      />
      <ComboboxField
        label={t('Key')}
        value={filter.key}
        options={withAny(filter.key, keys)}
        onChange={(key) => onChange({ key })}
      />
      <EndUser
        key={filter.end_user}
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

/** Applies on Enter. */
function EndUser({
  value,
  onSend,
}: {
  readonly value: string;
  readonly onSend: (text: string) => void;
}) {
  const [text, setText] = useState(value);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSend(text.trim());
      }}
    >
      <TextField
        type="search"
        label={t('End user')}
        placeholder={t('Exactly as sent')}
        value={text}
        onInput={setText}
        maxLength={256}
      />
    </form>
  );
}

type Options = readonly { readonly value: string; readonly label: string }[];

/** Keeps a value from the address as an option even if the server no longer knows it. */
function withAny(value: string, options: Options): Options {
  const known = value === '' || options.some((option) => option.value === value);
  return [{ value: '', label: t('Any') }, ...options, ...(known ? [] : [{ value, label: value }])];
}
