// The filters of the request list, kept in the page's address, and the query they send. A search by
// id ignores the other filters.

import { useState } from 'preact/hooks';
import type { RequestFiltersRecord } from '../../../records/customer-request.ts';
import {
  Button,
  formatInstant,
  lastDays,
  SelectField,
  type SelectOption,
  TextField,
} from '../../ui/index.ts';

export const FILTERS = [
  ...(['id', 'model', 'key', 'outcome', 'end_user'] as const),
  ...(['days', 'from', 'to'] as const),
];

export type FilterName = (typeof FILTERS)[number];

/** Empty means no filter. `from` and `to` win over `days`. */
export type FilterValues = Readonly<Record<FilterName, string>>;

const OUTCOMES: readonly SelectOption[] = [
  { value: '', label: 'Any' },
  { value: 'completed', label: 'Completed' },
  { value: 'stopped_balance', label: 'Balance used up' },
  { value: 'client_cancelled', label: 'Cancelled' },
  { value: 'failed', label: 'Failed' },
];

const DAYS: readonly SelectOption[] = [
  { value: '', label: 'Any time' },
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
];

export function queryOf(values: FilterValues): Readonly<Record<string, string>> {
  const { id, days, from, to, ...kind } = values;
  if (id !== '') return { id };
  const hasSpan = from !== '' || to !== '';
  if (hasSpan || !DAYS.some(({ value }) => value !== '' && value === days)) {
    return { ...kind, from, to };
  }
  return { ...kind, from: lastDays(Number(days)).from };
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
      <Sent
        key={values.id}
        label="Request id"
        placeholder="req_…"
        value={values.id}
        onSend={(id) => onChange({ id })}
      />
      <SelectField
        label="Time"
        value={values.from !== '' || values.to !== '' ? 'own' : values.days}
        options={[...DAYS, ...ownSpan(values)]}
        onChange={(days) => onChange(days === 'own' ? {} : { days, from: '', to: '' })}
      />
      <SelectField
        label="Model"
        value={values.model}
        options={withOwn(
          values.model,
          (choices?.models ?? []).map((slug) => ({ value: slug, label: slug })),
        )}
        onChange={(model) => onChange({ model })}
      />
      <SelectField
        label="Key"
        value={values.key}
        options={withOwn(
          values.key,
          (choices?.keys ?? []).map(({ id, name, masked }) => ({
            value: id,
            label: name ?? masked,
          })),
        )}
        onChange={(key) => onChange({ key })}
      />
      <SelectField
        label="Outcome"
        value={values.outcome}
        options={OUTCOMES}
        onChange={(outcome) => onChange({ outcome })}
      />
      <Sent
        key={`user ${values.end_user}`}
        label="End user"
        placeholder="Exactly as sent"
        value={values.end_user}
        onSend={(user) => onChange({ end_user: user })}
      />
      {onClear && (
        <Button kind="quiet" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </div>
  );
}

/** A text field that applies on Enter. */
function Sent({
  label,
  placeholder,
  value,
  onSend,
}: {
  readonly label: string;
  readonly placeholder: string;
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
        label={label}
        placeholder={placeholder}
        value={text}
        onInput={setText}
        maxLength={256}
      />
    </form>
  );
}

/** Keeps a value from the address as an option even if the server no longer knows it. */
function withOwn(value: string, options: readonly SelectOption[]): readonly SelectOption[] {
  const known = value === '' || options.some((option) => option.value === value);
  return [{ value: '', label: 'Any' }, ...options, ...(known ? [] : [{ value, label: value }])];
}

function ownSpan({ from, to }: FilterValues): readonly SelectOption[] {
  if (from === '' && to === '') return [];
  const name = (iso: string) => (iso === '' ? '' : formatInstant(iso, 'day'));
  return [{ value: 'own', label: `${name(from)} – ${name(to)}` }];
}
