// A field for the last day of a period. The day is in the viewer's time zone and included.

import { t } from '../text/t.ts';
import { TextField } from './field.tsx';

export function LastDayField({
  day,
  error,
  onChange,
}: {
  /** The value of a date input: `2027-01-31`; empty before a choice. */
  readonly day: string;
  readonly error: string | undefined;
  readonly onChange: (day: string) => void;
}) {
  return (
    <TextField
      label={t('Last day')}
      type="date"
      required
      min={localDay(Date.now())}
      value={day}
      error={error}
      onInput={onChange}
    />
  );
}

/** The end of the day as an ISO instant. Invalid days return a text that the server rejects. */
export function endOfDay(day: string): string {
  const end = new Date(`${day}T23:59:59.999`);
  return Number.isNaN(end.getTime()) ? '' : end.toISOString();
}

function localDay(ms: number): string {
  const at = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return at.toISOString().slice(0, 10);
}
