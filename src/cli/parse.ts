// Parses the values of options: counts, durations and dates of expiry.

import { isDay, parseInstant } from '../core/instant.ts';
import { parseDecimal } from '../core/money.ts';
import { CommandError } from './command.ts';

const DURATION_MS_MAX = 3_650 * 86_400_000;

/** Parses a whole number of at least 1. Throws `invalid_number` that names `option`. */
export function parseCount(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CommandError('invalid_number', `${option} needs a whole number from 1 to 999999999.`);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a duration to milliseconds. Throws `invalid_duration` that names `option`. */
export function parseDuration(text: string, option: string): number {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit] ?? 0);
  if (ms > 0 && ms <= DURATION_MS_MAX) return ms;
  throw new CommandError(
    'invalid_duration',
    `${option} needs a whole number and a unit, such as 90s, 30m, 12h or 7d; at most 3650d.`,
  );
}

/** Parses an expiry to Unix milliseconds. Throws `invalid_expiry`. */
export function parseExpiry(text: string): number {
  const ms = parseInstant(isDay(text) ? `${text}T00:00:00Z` : text);
  if (ms !== undefined) return ms;
  throw new CommandError(
    'invalid_expiry',
    'The expiry date is not valid. Write it as 2027-01-31 (UTC midnight) or 2027-01-31T12:00:00Z.',
  );
}

/** Parses such as `0.5` or `20%` to 10⁻⁴ of a percent. Throws `invalid_number` that names `option`. */
export function parsePercent(text: string, option: string): bigint {
  const value = parseDecimal(text.replace(/ ?%$/, ''), 4);
  if (value !== undefined && value >= 0n) return value;
  throw new CommandError('invalid_number', `${option} needs a percentage such as 0.5 or 20%.`);
}

/** The error of an option that names nothing; `names` are those of `where`. */
export function oneOf(option: string, where: string, names: Iterable<string>): CommandError {
  const list = [...names].toSorted().join(', ');
  return new CommandError('unknown_name', `${option} needs one of ${where}: ${list}.`);
}
