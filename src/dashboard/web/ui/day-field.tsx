// Asks for the last day of something. A day is one of the viewer's zone, and something that ends on
// it lasts to its end.

import { Field } from './field.tsx';

export function LastDayField({
  day,
  error,
  onChange,
}: {
  /** As the browser writes it: `2027-01-31`; empty before one is chosen. */
  readonly day: string;
  readonly error: string | undefined;
  readonly onChange: (day: string) => void;
}) {
  return (
    <Field label="Last day" error={error}>
      {(described) => (
        <input
          {...described}
          type="date"
          class="input"
          required
          min={localDay(Date.now())}
          value={day}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** The instant as the server takes it; of what is no day, a text that the server refuses. */
export function endOfDay(day: string): string {
  const end = new Date(`${day}T23:59:59.999`);
  return Number.isNaN(end.getTime()) ? '' : end.toISOString();
}

function localDay(ms: number): string {
  const at = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return at.toISOString().slice(0, 10);
}
