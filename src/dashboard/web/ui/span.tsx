// Selects the period of a page: a preset, or two days.

import { useState } from 'preact/hooks';
import { Field } from './field.tsx';
import { Segments } from './tabs.tsx';

/** Both ends as ISO instants; `to` is exclusive. */
export type Span = { readonly from: string; readonly to: string };

const PRESETS = [
  { id: '1', label: '24 h' },
  { id: '7', label: '7 days' },
  { id: '30', label: '30 days' },
  { id: '90', label: '90 days' },
  { id: 'own', label: 'Custom' },
] as const;

type PresetId = (typeof PRESETS)[number]['id'];

const DAY_MS = 86_400_000;

/** The last `days` days, rounded to minutes, so that the address stays stable for a while. */
export function lastDays(days: number): Span {
  const to = Math.ceil(Date.now() / 60_000) * 60_000;
  return { from: new Date(to - days * DAY_MS).toISOString(), to: new Date(to).toISOString() };
}

export function SpanPicker({
  span,
  onChange,
  initial = '30',
}: {
  readonly span: Span;
  readonly onChange: (span: Span) => void;
  readonly initial?: PresetId;
}) {
  const [preset, setPreset] = useState<PresetId>(initial);
  const choose = (id: PresetId) => {
    setPreset(id);
    if (id !== 'own') onChange(lastDays(Number(id)));
  };
  return (
    <div class="row span">
      <Segments label="Period" choices={PRESETS} active={preset} onChange={choose} />
      {preset === 'own' && (
        <>
          <DayField
            label="From"
            day={dayOf(span.from, 0)}
            onChange={(day) => onChange(ordered(startOf(day, 0), span.to))}
          />
          <DayField
            label="To"
            day={dayOf(span.to, -1)}
            onChange={(day) => onChange(ordered(span.from, startOf(day, 1)))}
          />
        </>
      )}
    </div>
  );
}

function DayField({
  label,
  day,
  onChange,
}: {
  readonly label: string;
  readonly day: string;
  readonly onChange: (day: string) => void;
}) {
  return (
    <Field label={label}>
      {(described) => (
        <input
          {...described}
          class="input"
          type="date"
          value={day}
          onChange={({ currentTarget: { value } }) => value !== '' && onChange(value)}
        />
      )}
    </Field>
  );
}

/** The day of an instant in the viewer's time zone. */
function dayOf(iso: string, offsetMs: number): string {
  const at = new Date(Date.parse(iso) + offsetMs);
  const month = String(at.getMonth() + 1).padStart(2, '0');
  return `${at.getFullYear()}-${month}-${String(at.getDate()).padStart(2, '0')}`;
}

/** Midnight in the viewer's time zone at the start of a day, optionally some days later. */
function startOf(day: string, later: number): string {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + later);
  return at.toISOString();
}

function ordered(from: string, to: string): Span {
  if (from < to) return { from, to };
  return { from, to: new Date(Date.parse(from) + DAY_MS).toISOString() };
}
