// Selects the period of a page and keeps it in the address: a preset stays a preset after a reload.

import { t } from '../text/t.ts';
import { Field, SelectField } from './field.tsx';
import {
  formatPeriod,
  lastDayOf,
  lastDays,
  lastMonths,
  type Period,
  type SpanQuery,
  wholeDays,
  withDay,
} from './period.ts';
import { Segments } from './tabs.tsx';

const PRESETS = [
  { id: '1', label: t('24 h') },
  { id: '7', label: t('7 days') },
  { id: '30', label: t('30 days') },
  { id: '90', label: t('90 days') },
  { id: 'month', label: t('Month') },
  { id: 'own', label: t('Custom') },
] as const;

type PresetId = (typeof PRESETS)[number]['id'];

const MONTHS_LISTED = 24;

export function SpanPicker({
  span,
  shown,
  onChange,
}: {
  readonly span: SpanQuery;
  /** What the server counted: whole hours, or whole UTC days. */
  readonly shown: Period | undefined;
  /** Members without a value are to be removed from the address. */
  readonly onChange: (span: SpanQuery) => void;
}) {
  const preset = (span.days ?? (span.month === undefined ? 'own' : 'month')) as PresetId;
  const set = (next: SpanQuery) => onChange({ days: '', month: '', from: '', to: '', ...next });
  const choose = (id: PresetId) => {
    if (id === 'month') set({ month: new Date().toISOString().slice(0, 7) });
    else if (id !== 'own') set({ days: id });
    else if (shown !== undefined) set(wholeDays(shown));
  };
  const period =
    span.from && span.to ? { from: span.from, to: span.to } : wholeDays(shown ?? lastDays(30));
  const edit = (end: keyof Period) => (day: string) => {
    const next = withDay(period, end, day);
    if (next !== undefined) set(next);
  };
  return (
    <div class="row span">
      <Segments label={t('Period')} choices={PRESETS} active={preset} onChange={choose} />
      {preset === 'month' && (
        <SelectField
          label={t('Month')}
          value={span.month ?? ''}
          options={lastMonths(MONTHS_LISTED)}
          onChange={(month) => set({ month })}
        />
      )}
      {preset === 'own' && (
        <>
          <DayField
            label={t('From (UTC)')}
            value={period.from.slice(0, 10)}
            onChange={edit('from')}
          />
          <DayField label={t('To (UTC)')} value={lastDayOf(period.to)} onChange={edit('to')} />
        </>
      )}
      {shown && <span class="soft small">{formatPeriod(shown)}</span>}
    </div>
  );
}

function DayField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
}) {
  return (
    <Field label={label}>
      {(described) => (
        <input
          {...described}
          class="input"
          type="date"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
