// Formats numbers, amounts and durations. Amounts arrive as decimal strings and stay text, so no
// digit is lost to a float.

const GROUP = ',';
const MINUS = '−';

/** Groups the digits of the whole part by three: `"1234567.5"` is `"1,234,567.5"`. */
export function groupDigits(decimal: string): string {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(decimal);
  if (match === null) return decimal;
  const [, sign, whole = '', fraction = ''] = match;
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, GROUP);
  return `${sign === '-' ? MINUS : ''}${grouped}${fraction}`;
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

/** An amount in service tokens, whole or rounded to `decimals` places. */
export function formatTokens(decimal: string, decimals?: number): string {
  return groupDigits(decimals === undefined ? decimal : roundDecimal(decimal, decimals));
}

/**
 * An amount in USD with at least two places: `"12.5"` is `"$12.50"`. Small amounts keep their
 * digits, so that a request below one cent does not look free.
 */
export function formatUsd(decimal: string, decimals?: number): string {
  const short = decimals === undefined ? decimal : roundDecimal(decimal, decimals);
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(short);
  if (match === null) return decimal;
  const [, sign, whole = '', fraction = ''] = match;
  const grouped = groupDigits(whole);
  return `${sign === '-' ? MINUS : ''}$${grouped}.${fraction.padEnd(2, '0')}`;
}

/** An amount in USD for overviews: cents, with more places only below ten cents. */
export function formatUsdShort(decimal: string): string {
  return formatUsd(decimal, /^-?0(\.0|$)/.test(decimal) ? 6 : 2);
}

/** A whole number, grouped. */
export function formatCount(count: number): string {
  return groupDigits(String(Math.round(count)));
}

/** A count with its noun: `"1 account"`, `"1,200 accounts"`. */
export function formatCountOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** A large number in short form, for axes: `1200000` is `"1.2 M"`. */
export function formatCompact(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${trim(value / 1e9)} G`;
  if (size >= 1e6) return `${trim(value / 1e6)} M`;
  if (size >= 1e4) return `${trim(value / 1e3)} k`;
  return groupDigits(trim(value));
}

function trim(value: number): string {
  const decimals = Math.abs(value) >= 100 || value === 0 ? 0 : Math.abs(value) >= 1 ? 1 : 4;
  return roundDecimal(value.toFixed(6), decimals);
}

/** `part` as a percentage of `whole`; a dash if `whole` is zero. */
export function formatShare(part: number, whole: number): string {
  if (whole <= 0) return '–';
  const percent = (part / whole) * 100;
  return `${trim(percent < 10 ? Math.round(percent * 10) / 10 : Math.round(percent))} %`;
}

export function formatMilliseconds(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${roundDecimal((ms / 1_000).toFixed(2), 1)} s`;
  return formatSpan(ms);
}

/** A duration in its two largest units: `"2 days 3 h"`. */
export function formatSpan(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return join(minutes, 'min', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return join(hours, 'h', minutes % 60, 'min');
  const days = Math.floor(hours / 24);
  return join(days, days === 1 ? 'day' : 'days', hours % 24, 'h');
}

function join(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

/** An instant relative to now: `"3 min ago"`, `"in 2 days"`, `"just now"`. */
export function formatRelative(at: number, now: number): string {
  const ms = at - now;
  const size = Math.abs(ms);
  if (size < 10_000) return 'just now';
  const [amount, unit] = largestUnit(size);
  const text = `${amount} ${unit}`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

function largestUnit(ms: number): [number, string] {
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
  return at.toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    ...(detail === 'day' ? {} : { hour: '2-digit', minute: '2-digit' }),
    ...(detail === 'second' || detail === 'zone' ? { second: '2-digit' } : {}),
    ...(detail === 'zone' ? { timeZoneName: 'short' } : {}),
  });
}

/** The label of a state: `"pending_deletion"` is `"Pending deletion"`. */
export function humanize(word: string): string {
  const text = word.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
