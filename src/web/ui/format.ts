// Formats numbers, amounts and durations. Amounts arrive as decimal strings and stay text, so no
// digit is lost to a float.

import { language, listed, locale, t } from '../text/t.ts';

const parts = new Intl.NumberFormat(locale).formatToParts(1_234_567.5);
const partOf = (type: Intl.NumberFormatPartTypes) =>
  parts.find((part) => part.type === type)?.value;
const GROUP = partOf('group') ?? ',';
export const POINT = partOf('decimal') ?? '.';
export const MINUS = '−';
/** What the language writes between a number and its percent sign or its power of ten. */
const GAP =
  new Intl.NumberFormat(locale, { style: 'percent' })
    .formatToParts(0.1)
    .find(({ type }) => type === 'literal')?.value ?? '';

/**
 * Groups the digits of the whole part by three, in the notation of the page's language:
 * `"1234567.5"` is `"1,234,567.5"` in English.
 */
export function groupDigits(decimal: string): string {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(decimal);
  if (match === null) return decimal;
  const [, sign, whole = '', fraction = ''] = match;
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, GROUP);
  return `${sign === '-' ? MINUS : ''}${grouped}${fraction.replace('.', POINT)}`;
}

/**
 * Rounds a decimal to at most `decimals` places, half away from zero, without trailing zeros. For
 * overviews only: use `groupDigits` where the exact amount matters.
 */
export function roundDecimal(decimal: string, decimals: number): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal);
  if (match === null) return decimal;
  const [, sign = '', whole = '', fraction = ''] = match;
  const kept = BigInt(`${whole}${fraction.slice(0, decimals).padEnd(decimals, '0')}`);
  const rounded = (fraction[decimals] ?? '0') >= '5' ? kept + 1n : kept;
  const digits = rounded.toString().padStart(decimals + 1, '0');
  const end = digits.length - decimals;
  const rest = digits.slice(end).replace(/0+$/, '');
  const text = rest === '' ? digits.slice(0, end) : `${digits.slice(0, end)}.${rest}`;
  return rounded === 0n ? '0' : `${sign}${text}`;
}

/** A whole number, grouped. */
export function formatCount(count: number): string {
  return groupDigits(String(Math.round(count)));
}

/** A number of tokens of a model, with its unit. */
export function tokenCount(count: number): string {
  return t('{count} tokens', { count: formatCount(count) });
}

/** A large number in short form, for axes: `1200000` is `"1.2M"` in English. */
export function formatCompact(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${groupDigits(trim(value / 1e9))}${GAP}G`;
  if (size >= 1e6) return `${groupDigits(trim(value / 1e6))}${GAP}M`;
  if (size >= 1e4) return `${groupDigits(trim(value / 1e3))}${GAP}k`;
  return groupDigits(trim(value));
}

function trim(value: number): string {
  const decimals = Math.abs(value) >= 100 || value === 0 ? 0 : Math.abs(value) >= 1 ? 1 : 4;
  return roundDecimal(value.toFixed(6), decimals);
}

/**
 * `part` as a percentage of `whole`; a dash if `whole` is zero. Only nothing is 0 %, and only all
 * of it is 100 %.
 */
export function formatShare(part: number, whole: number): string {
  if (whole <= 0) return '–';
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 0.05) return `<${groupDigits('0.1')}${GAP}%`;
  const isAlmostAll = percent >= 99.5 && percent < 100;
  const rounded = percent < 10 || isAlmostAll ? Math.round(percent * 10) / 10 : Math.round(percent);
  return `${groupDigits(trim(isAlmostAll ? Math.min(rounded, 99.9) : rounded))}${GAP}%`;
}

/** The change from `before`, which is not zero: `"+12%"` in English. */
export function formatChange(now: number, before: number): string {
  const percent = ((now - before) / Math.abs(before)) * 100;
  const size = Math.abs(percent);
  const digits = size < 10 ? Math.round(size * 10) / 10 : Math.round(size);
  const sign = digits === 0 ? '±' : percent > 0 ? '+' : MINUS;
  return `${sign}${digits > 999 ? '>999' : groupDigits(trim(digits))}${GAP}%`;
}

export function formatMilliseconds(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${groupDigits(roundDecimal((ms / 1_000).toFixed(2), 1))} s`;
  return formatSpan(ms);
}

/** A duration in its two largest units: `"2 days 3 h"`. */
export function formatSpan(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return formatUnit(seconds, 's');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return join(minutes, 'min', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return join(hours, 'h', minutes % 60, 'min');
  const days = Math.floor(hours / 24);
  return join(days, 'days', hours % 24, 'h');
}

function join(large: number, unit: Unit, small: number, smallUnit: Unit): string {
  const text = formatUnit(large, unit);
  return small === 0 ? text : `${text} ${formatUnit(small, smallUnit)}`;
}

const UNITS = {
  s: 'second',
  min: 'minute',
  h: 'hour',
  days: 'day',
  months: 'month',
  years: 'year',
} as const;

type Unit = keyof typeof UNITS;

/** English has shorter units than `Intl` offers. */
function formatUnit(amount: number, unit: Unit): string {
  if (language === 'en') return `${amount} ${unit === 'days' && amount === 1 ? 'day' : unit}`;
  const style = { style: 'unit', unit: UNITS[unit], unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(locale, style).format(amount);
}

/** An instant relative to now: `"3 min ago"`, `"in 2 days"`, `"just now"`. */
export function formatRelative(at: number, now: number): string {
  const ms = at - now;
  const size = Math.abs(ms);
  if (size < 10_000) return t('just now');
  const [amount, unit] = largestUnit(size);
  if (language !== 'en') {
    const relative = new Intl.RelativeTimeFormat(locale);
    return relative.format(ms > 0 ? amount : -amount, UNITS[unit]);
  }
  const text = `${amount} ${unit}`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

function largestUnit(ms: number): [number, Unit] {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return [seconds, 's'];
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return [minutes, 'min'];
  const hours = Math.round(minutes / 60);
  if (hours < 36) return [hours, 'h'];
  const days = Math.round(hours / 24);
  if (days < 60) return [days, 'days'];
  const months = Math.round(days / 30.4);
  return months < 24 ? [months, 'months'] : [Math.round(days / 365), 'years'];
}

/** An instant in the viewer's zone: `"21 Nov 2026, 20:11:33"`; `zone` names that zone as well. */
export function formatInstant(
  iso: string,
  detail: 'day' | 'minute' | 'second' | 'zone' = 'minute',
): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return at.toLocaleString(locale, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    ...(detail === 'day' ? {} : { hour: '2-digit', minute: '2-digit' }),
    ...(detail === 'second' || detail === 'zone' ? { second: '2-digit' } : {}),
    ...(detail === 'zone' ? { timeZoneName: 'short' } : {}),
  });
}

/** The time of day in the viewer's zone: `"20:11:33"`. */
export function formatClock(iso: string): string {
  return new Date(iso).toLocaleTimeString(locale, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

/** The day in the viewer's zone, with its weekday: `"Sat, 21 Nov 2026"`. */
export function formatDay(iso: string): string {
  return new Date(iso).toLocaleDateString(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
}

/** Days of the week from their codes, such as `mon`: `"Mon, Tue"`. */
export function weekdays(codes: readonly string[]): string {
  // The first of January 2024 is a Monday.
  const name = (code: string) =>
    new Date(Date.UTC(2024, 0, 1 + WEEK.indexOf(code))).toLocaleDateString(locale, {
      weekday: 'short',
      timeZone: 'UTC',
    });
  return listed(codes.map(name));
}

const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** The label of a state: `"pending_deletion"` is `"Pending deletion"`. */
export function humanize(word: string): string {
  const text = word.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
