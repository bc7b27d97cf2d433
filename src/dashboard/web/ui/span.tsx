// Selects the period of a page and keeps it in the address: a preset stays a preset after a reload.
// Days and months are UTC, as in the ledger.

import { locale, t } from '../text/t.ts';
import { Field, SelectField } from './field.tsx';
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

const DAY_MS = 86_400_000;
const MONTHS_LISTED = 24;
const DEFAULT = { days: '30' };

/** The period as a query of the server: `days`, `month`, or `from` and `to`. */
export type SpanQuery = Readonly<Partial<Record<'days' | 'month' | 'from' | 'to', string>>>;

/** The period in an address. */
export function spanOf(search: URLSearchParams): SpanQuery {
  const [days, month] = [search.get('days'), search.get('month')];
  if (PRESETS.some(({ id }) => id === days)) return { days: days as string };
  if (month !== null && /^20\d\d-(0[1-9]|1[0-2])$/.test(month)) return { month };
  const [from, to] = [search.get('from'), search.get('to')];
  return from !== null && to !== null ? { from, to } : DEFAULT;
}

/** The last `days` days, rounded to minutes, so that the address stays stable for a while. */
export function lastDays(days: number): { readonly from: string; readonly to: string } {
  const to = Math.ceil(Date.now() / 60_000) * 60_000;
  return { from: new Date(to - days * DAY_MS).toISOString(), to: new Date(to).toISOString() };
}

export function SpanPicker({
  span,
  shown,
  onChange,
}: {
  readonly span: SpanQuery;
  /** What the server counted: whole hours, or whole UTC days. */
  readonly shown: { readonly from: string; readonly to: string } | undefined;
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
  const { from, to } = span.from && span.to ? { from: span.from, to: span.to } : wholeDays(shown);
  return (
    <div class="row span">
      <Segments label={t('Period')} choices={PRESETS} active={preset} onChange={choose} />
      {preset === 'month' && (
        <SelectField
          label={t('Month')}
          value={span.month ?? ''}
          options={months()}
          onChange={(month) => set({ month })}
        />
      )}
      {preset === 'own' && (
        <>
          <DayField
            label={t('From (UTC)')}
            value={from.slice(0, 10)}
            onChange={(day) => set(ordered(startOf(day), to))}
          />
          <DayField
            label={t('To (UTC)')}
            value={new Date(Date.parse(to) - 1).toISOString().slice(0, 10)}
            onChange={(day) => set(ordered(from, startOf(day, DAY_MS)))}
          />
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
          onChange={({ currentTarget: { value: day } }) => day !== '' && onChange(day)}
        />
      )}
    </Field>
  );
}

function months() {
  const now = new Date();
  return Array.from({ length: MONTHS_LISTED }, (_, ago) => {
    const at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1));
    const label = at.toLocaleDateString(locale, {
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    });
    return { value: at.toISOString().slice(0, 7), label };
  });
}

/** `"1 Nov 2026 – 21 Nov 2026 (UTC)"`; with hours where it does not cover whole days. */
function formatPeriod({ from, to }: { readonly from: string; readonly to: string }): string {
  const isDays = Date.parse(from) % DAY_MS === 0 && Date.parse(to) % DAY_MS === 0;
  const text = (ms: number) =>
    new Date(ms).toLocaleString(locale, {
      ...{ day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' },
      ...(isDays ? {} : { hour: '2-digit', minute: '2-digit' }),
    });
  const [first, last] = [text(Date.parse(from)), text(Date.parse(to) - (isDays ? 1 : 0))];
  return first === last
    ? t('{day} (UTC)', { day: first })
    : t('{first} – {last} (UTC)', { first, last });
}

function wholeDays(span: { readonly from: string; readonly to: string } | undefined) {
  const { from, to } = span ?? lastDays(30);
  return { from: startOf(from.slice(0, 10)), to: startOf(lastDayOf(to), DAY_MS) };
}

function lastDayOf(to: string): string {
  return new Date(Date.parse(to) - 1).toISOString().slice(0, 10);
}

/** The UTC midnight at the start of a day, optionally later. */
function startOf(day: string, later = 0): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + later).toISOString();
}

function ordered(from: string, to: string): { readonly from: string; readonly to: string } {
  if (from < to) return { from, to };
  return { from, to: new Date(Date.parse(from) + DAY_MS).toISOString() };
}
