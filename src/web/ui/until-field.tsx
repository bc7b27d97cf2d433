// An expiry: never, after a while, or at the end of a day in the viewer's time zone.

import { t } from '../text/t.ts';
import { fieldError, SelectField, type SelectOption, TextField } from './field.tsx';
import type { Action } from './resource.ts';

type Until = { readonly choice: string; readonly day: string };

export const FOR_GOOD: Until = { choice: '', day: '' };

const HOUR_MS = 3_600_000;

/** By number of hours. */
const SPANS: readonly SelectOption[] = [
  { value: '1', label: t('In 1 hour') },
  { value: '24', label: t('In 1 day') },
  { value: '168', label: t('In 7 days') },
  { value: '720', label: t('In 30 days') },
];

export function UntilField<Args extends readonly unknown[]>({
  forGood = t('Never'),
  spans = SPANS,
  hint,
  until,
  action,
  onChange,
}: {
  /** The label of "no expiry". */
  readonly forGood?: string;
  /** By number of hours. */
  readonly spans?: readonly SelectOption[];
  readonly hint?: string;
  readonly until: Until;
  /** Its error for `expires_at` is shown. */
  readonly action: Action<Args>;
  readonly onChange: (until: Until) => void;
}) {
  const error = fieldError(action, 'expires_at');
  const isDay = until.choice === 'day';
  return (
    <>
      <SelectField
        label={t('Expires')}
        hint={hint}
        options={[{ value: '', label: forGood }, ...spans, { value: 'day', label: t('On a date') }]}
        value={until.choice}
        error={isDay ? undefined : error}
        onChange={(choice) => onChange({ ...until, choice })}
      />
      {isDay && (
        <TextField
          label={t('Last day')}
          type="date"
          required
          min={today()}
          value={until.day}
          error={error}
          onInput={(day) => onChange({ ...until, day })}
        />
      )}
    </>
  );
}

/** The expiry as an ISO instant; an empty object for none. The server rejects an invalid day. */
export function expiryOf({ choice, day }: Until): { readonly expires_at?: string } {
  if (choice === '') return {};
  const end =
    choice === 'day'
      ? new Date(`${day}T23:59:59.999`)
      : new Date(Date.now() + Number(choice) * HOUR_MS);
  return { expires_at: Number.isNaN(end.getTime()) ? '' : end.toISOString() };
}

/** In the viewer's time zone. */
function today(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}
