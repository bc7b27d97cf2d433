// Until when something holds: for good, for a while, or to the end of a day of the viewer's zone.

import { endOfDay, LastDayField, SelectField } from '../ui/index.ts';

type Until = { readonly choice: string; readonly day: string };

export const FOR_GOOD: Until = { choice: '', day: '' };

const HOUR_MS = 3_600_000;

const CHOICES = [
  { value: '', label: 'Until it is taken back' },
  { value: '1', label: 'For an hour' },
  { value: '24', label: 'For a day' },
  { value: '168', label: 'For 7 days' },
  { value: '720', label: 'For 30 days' },
  { value: 'day', label: 'To the end of a day' },
] as const;

export function UntilField({
  label,
  forGood,
  until,
  error,
  onChange,
}: {
  readonly label: string;
  /** What it is called when it never ends. */
  readonly forGood?: string;
  readonly until: Until;
  readonly error?: string | undefined;
  readonly onChange: (until: Until) => void;
}) {
  const [first, ...others] = CHOICES;
  const options = [{ ...first, label: forGood ?? first.label }, ...others];
  const isDay = until.choice === 'day';
  return (
    <>
      <SelectField
        label={label}
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

/** The instant as the server takes it; an empty object where there is no end. */
export function expiryOf({ choice, day }: Until): { readonly expires_at?: string } {
  if (choice === '') return {};
  if (choice !== 'day') {
    return { expires_at: new Date(Date.now() + Number(choice) * HOUR_MS).toISOString() };
  }
  return { expires_at: endOfDay(day) };
}
