// Parses the period of a command: a month, or a beginning and an end.

import { type Span, utcMonth } from '../core/calendar.ts';
import { isDay, parseInstant } from '../core/instant.ts';
import { CommandError } from './command.ts';

export type SpanOptions = {
  readonly month?: string;
  readonly from?: string;
  readonly to?: string;
};

/** `undefined` without any of the options. Throws `invalid_time`. */
export function readSpan({ month, from, to }: SpanOptions): Span | undefined {
  if (from === undefined && to === undefined) {
    return month === undefined ? undefined : parseMonth(month);
  }
  const fromMs = parseTime(from, '--from');
  const untilMs = parseTime(to, '--to');
  if (month !== undefined || fromMs === undefined || untilMs === undefined) {
    throw new CommandError('invalid_time', 'Give --month, or both --from and --to.');
  }
  if (fromMs >= untilMs) throw new CommandError('invalid_time', '--to must be later than --from.');
  return { fromMs, untilMs };
}

/** A day stands for its first instant. */
export function parseTime(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseInstant(isDay(text) ? `${text}T00:00:00Z` : text);
  if (ms !== undefined) return ms;
  throw new CommandError(
    'invalid_time',
    `${option} needs a day such as 2026-10-01, or an instant with its zone such as 2026-10-01T16:30:00Z.`,
  );
}

function parseMonth(text: string): Span {
  if (isDay(`${text}-01`)) return utcMonth(Date.parse(`${text}-01T00:00:00Z`));
  throw new CommandError('invalid_time', '--month needs a month such as 2026-10.');
}
