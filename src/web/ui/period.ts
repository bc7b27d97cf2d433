// Periods of time: in an address, as a query of the server, and as text. Days and months are UTC,
// as in the ledger.

import { locale, t } from '../text/t.ts';
import { formatInstant } from './format.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The choices by number of days. */
const DAYS = ['1', '7', '30', '90'];
const DEFAULT = { days: '30' };

/** The period as a query of the server: `days`, `month`, or `from` and `to`. */
export type SpanQuery = Readonly<Partial<Record<'days' | 'month' | 'from' | 'to', string>>>;

/** Two instants; the end is not part of the period. */
export type Period = { readonly from: string; readonly to: string };

/** The period in an address, which may contain any text. */
export function spanOf(search: URLSearchParams): SpanQuery {
  const [days, month] = [search.get('days'), search.get('month')];
  if (days !== null && DAYS.includes(days)) return { days };
  if (month !== null && /^20\d\d-(0[1-9]|1[0-2])$/.test(month)) return { month };
  const [from, to] = [search.get('from'), search.get('to')];
  return isInstant(from) && isInstant(to) ? { from, to } : DEFAULT;
}

function isInstant(text: string | null): text is string {
  return text !== null && /^20\d\d-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));
}

/**
 * The last days as the server counts them (`dashboard/period.ts`): one day is the last 24 hours with
 * the current one; more are UTC days with today.
 */
export function lastDays(days: number, nowMs = Date.now()): Period {
  const stepMs = days === 1 ? HOUR_MS : DAY_MS;
  const to = (Math.floor(nowMs / stepMs) + 1) * stepMs;
  return { from: new Date(to - days * DAY_MS).toISOString(), to: new Date(to).toISOString() };
}

/** An instant as a `datetime-local` field has it, in the viewer's zone: `"2026-11-21T20:11"`. */
export function toLocalMinute(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The current month and those before it, newest first, as options of a field. */
export function lastMonths(count: number): { readonly value: string; readonly label: string }[] {
  const now = new Date();
  return Array.from({ length: count }, (_, ago) => {
    const at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1));
    const label = at.toLocaleDateString(locale, {
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    });
    return { value: at.toISOString().slice(0, 7), label };
  });
}

/** The whole days that contain a period. */
export function wholeDays({ from, to }: Period): Period {
  return { from: startOf(from.slice(0, 10)), to: startOf(lastDayOf(to), DAY_MS) };
}

export function lastDayOf(to: string): string {
  return new Date(Date.parse(to) - 1).toISOString().slice(0, 10);
}

/**
 * The period after an edit of its first or last day; the other end moves if nothing would be left
 * between them. Undefined while the year is being typed, when the field has the year 2, 20 or 202.
 */
export function withDay(period: Period, end: keyof Period, day: string): Period | undefined {
  if (!/^20\d\d-/.test(day)) return undefined;
  const [from, to] = [startOf(day), startOf(day, DAY_MS)];
  return end === 'from'
    ? { from, to: Date.parse(period.to) > Date.parse(from) ? period.to : to }
    : { from: Date.parse(period.from) < Date.parse(to) ? period.from : from, to };
}

/** The UTC midnight at the start of a day, optionally later. */
function startOf(day: string, later = 0): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + later).toISOString();
}

/** Whole days, the last one included: `"1 Nov 2026 – 21 Nov 2026 (UTC)"`. */
function formatDays({ from, to }: Period): string {
  const text = (ms: number) =>
    new Date(ms).toLocaleDateString(locale, {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      timeZone: 'UTC',
    });
  const [first, last] = [text(Date.parse(from)), text(Date.parse(to) - 1)];
  return first === last
    ? t('{day} (UTC)', { day: first })
    : t('{first} – {last} (UTC)', { first, last });
}

/** A period whose ends may be missing, with its zone: whole days in UTC, else the viewer's time. */
export function formatPeriod({ from, to }: Period): string {
  if (isMidnight(from) && isMidnight(to)) return formatDays({ from, to });
  const name = (iso: string) => (iso === '' ? '' : formatInstant(iso));
  return t('{first} – {last} (local time)', { first: name(from), last: name(to) });
}

function isMidnight(iso: string): boolean {
  return Date.parse(iso) % DAY_MS === 0;
}
