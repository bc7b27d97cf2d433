// An expiry: never, after a while, or at the end of a day in the viewer's time zone.

import { t } from '../text/t.ts';
import { endOfDay, fieldError, LastDayField, SelectField } from '../ui/index.ts';
import type { Action } from '../ui/resource.ts';

type Until = { readonly choice: string; readonly day: string };

export const FOR_GOOD: Until = { choice: '', day: '' };

const HOUR_MS = 3_600_000;

const CHOICES = [
  { value: '', label: t('Never') },
  { value: '1', label: t('In 1 hour') },
  { value: '24', label: t('In 1 day') },
  { value: '168', label: t('In 7 days') },
  { value: '720', label: t('In 30 days') },
  { value: 'day', label: t('On a date') },
] as const;

export function UntilField<Args extends readonly unknown[]>({
  forGood,
  until,
  action,
  onChange,
}: {
  /** The label of "no expiry". */
  readonly forGood?: string;
  readonly until: Until;
  /** Its error for `expires_at` is shown. */
  readonly action: Action<Args>;
  readonly onChange: (until: Until) => void;
}) {
  const [first, ...others] = CHOICES;
  const options = [{ ...first, label: forGood ?? first.label }, ...others];
  const error = fieldError(action, 'expires_at');
  const isDay = until.choice === 'day';
  return (
    <>
      <SelectField
        label={t('Expires')}
        options={options}
        value={until.choice}
        error={isDay ? undefined : error}
        onChange={(choice) => onChange({ ...until, choice })}
      />
      {isDay && (
        <LastDayField
          day={until.day}
          error={error}
          onChange={(day) => onChange({ ...until, day })}
        />
      )}
    </>
  );
}

/** The expiry as an ISO instant; an empty object for none. */
export function expiryOf({ choice, day }: Until): { readonly expires_at?: string } {
  if (choice === '') return {};
  if (choice !== 'day') {
    return { expires_at: new Date(Date.now() + Number(choice) * HOUR_MS).toISOString() };
  }
  return { expires_at: endOfDay(day) };
}
