// The filters that both lists of requests have: their options, and the choice of a time.

import { useEffect, useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { ComboboxField } from './combobox.tsx';
import { SelectField, type SelectOption, TextField } from './field.tsx';
import { formatFilter, lastDays } from './period.ts';
import { ERROR_CODES } from './problems.ts';

const ANY: SelectOption = { value: '', label: t('Any') };

const OUTCOME_OPTIONS: readonly SelectOption[] = [
  ANY,
  { value: 'completed', label: t('Completed') },
  { value: 'stopped_balance', label: t('Balance used up') },
  { value: 'client_cancelled', label: t('Cancelled') },
  { value: 'failed', label: t('Failed') },
  { value: 'refused', label: t('Refused') },
];

const STATUS_OPTIONS: readonly SelectOption[] = [
  { value: '2xx', label: t('2xx: answered') },
  { value: '4xx', label: t('4xx: request refused') },
  { value: '5xx', label: t('5xx: server error') },
  ...['400', '401', '402', '403', '404', '413', '429', '500', '503'].map((value) => ({
    value,
    label: value,
  })),
];

const CODE_OPTIONS: readonly SelectOption[] = ERROR_CODES.map((value) => ({
  value,
  label: value,
}));

/** Keeps a value from the address as an option even if the server no longer knows it. */
export function withOwn(value: string, options: readonly SelectOption[]): readonly SelectOption[] {
  const known = value === '' || options.some((option) => option.value === value);
  return [ANY, ...options, ...(known ? [] : [{ value, label: value }])];
}

/** Empty means no filter. `from` and `to` are instants and win over `days`. */
export type RequestTime = { readonly days: string; readonly from: string; readonly to: string };

const DAYS: readonly SelectOption[] = [
  { value: '', label: t('Any time') },
  { value: '1', label: t('Last 24 hours') },
  { value: '7', label: t('Last 7 days') },
  { value: '30', label: t('Last 30 days') },
  { value: '90', label: t('Last 90 days') },
];

/**
 * The time as the server reads it. The last days begin later each minute, so a list has to keep one
 * result while its filters are the same: another query would read it from the start.
 */
export function timeQuery({ days, from, to }: RequestTime) {
  const hasSpan = from !== '' || to !== '';
  const isPreset = DAYS.some(({ value }) => value !== '' && value === days);
  return hasSpan || !isPreset ? { from, to } : { from: lastDays(Number(days)).from };
}

export function TimeField({
  time,
  onChange,
}: {
  readonly time: RequestTime;
  readonly onChange: (time: RequestTime) => void;
}) {
  return (
    <SelectField
      label={t('Time')}
      value={time.from !== '' || time.to !== '' ? 'own' : time.days}
      options={[...DAYS, ...ownSpan(time)]}
      onChange={(days) => onChange(days === 'own' ? time : { days, from: '', to: '' })}
    />
  );
}

/** Set by links from charts. */
function ownSpan({ from, to }: RequestTime): readonly SelectOption[] {
  return from === '' && to === '' ? [] : [{ value: 'own', label: formatFilter({ from, to }) }];
}

type Outcome = { readonly outcome: string; readonly status: string; readonly code: string };

/** How a request ended: its outcome, the status of its answer, and the code of its error. */
export function OutcomeFilters({
  outcome,
  status,
  code,
  onChange,
}: Outcome & { readonly onChange: (change: Partial<Outcome>) => void }) {
  return (
    <>
      <SelectField
        label={t('Outcome')}
        value={outcome}
        options={OUTCOME_OPTIONS}
        onChange={(next) => onChange({ outcome: next })}
      />
      <SelectField
        label={t('Status')}
        value={status}
        options={withOwn(status, STATUS_OPTIONS)}
        onChange={(next) => onChange({ status: next })}
      />
      <ComboboxField
        label={t('Error code')}
        value={code}
        options={withOwn(code, CODE_OPTIONS)}
        onChange={(next) => onChange({ code: next })}
      />
    </>
  );
}

/** The models of a link from a chart: exactly the one that served, and the requested one. */
export function LinkedModels({
  served,
  requested,
  onChange,
}: {
  readonly served: string;
  readonly requested: string;
  readonly onChange: (change: { readonly served: string } | { readonly requested: string }) => void;
}) {
  const field = (label: string, value: string, choose: (next: string) => void) =>
    value !== '' && (
      <SelectField label={label} value={value} options={withOwn(value, [])} onChange={choose} />
    );
  return (
    <>
      {field(t('Served by'), served, (next) => onChange({ served: next }))}
      {field(t('Requested model'), requested, (next) => onChange({ requested: next }))}
    </>
  );
}

/** A text field that applies on Enter, and follows the value that is applied. */
export function SentField({
  label,
  placeholder,
  value,
  onSend,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onSend: (text: string) => unknown;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
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
        spellcheck={false}
      />
    </form>
  );
}
