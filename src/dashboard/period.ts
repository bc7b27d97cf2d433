// The period of a page: a number of days, a month, or two instants, as whole UTC steps, and the
// period before it. Pure; pages show what this returns, so that a total always has its period.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import { DAY_MS, isoTime, nextUtcDay, nextUtcMonth, utcMonth } from '../core/calendar.ts';
import { parseInstant } from '../core/instant.ts';
import { HOUR_MS } from '../ledger/series/figures.ts';
import { invalidRequest } from './edge/error.ts';
import { oneOf } from './edge/route.ts';

/** More than a year of days, or 16 days of hours. */
export const STEPS_MAX = 400;

const LONGEST_MONTH_MS = 31 * DAY_MS;

/** Periods up to this length have hours as steps. */
const HOURS_UP_TO_MS = 3 * DAY_MS;

export type PeriodStep = 'hour' | 'day' | 'month';

export type PagePeriod = {
  readonly step: PeriodStep;
  /** Where the steps begin, ascending, and where the last one ends: whole UTC hours. */
  readonly edges: readonly number[];
  /**
   * The same of the period before, with at most as many steps. Where the period is not over, it
   * ends after the same time.
   */
  readonly before: readonly number[];
};

export const SPAN_QUERY = {
  from: Type.Optional(Type.String({ maxLength: 40, description: 'The start, with a time zone.' })),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'The end, with a time zone.' })),
};

/** Until when something is valid; read with `readFuture`. */
export const UNTIL = Type.Optional(
  Type.String({ maxLength: 40, description: 'When it ends, with a time zone.' }),
);

/** `days` wins over `month`, and both win over `from` and `to`. */
export const PERIOD_QUERY = {
  days: Type.Optional(oneOf(['1', '7', '30', '90'], 'The last days, today included.')),
  month: Type.Optional(
    Type.String({
      pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$',
      description: 'A UTC month such as 2026-11.',
    }),
  ),
  ...SPAN_QUERY,
  step: Type.Optional(oneOf(['hour', 'day'], 'The length of a bucket.')),
};

type SpanQuery = Static<TObject<typeof SPAN_QUERY>>;
export type PeriodQuery = Static<TObject<typeof PERIOD_QUERY>>;

/** `wholeDays`: the data has no hours. Throws `invalid_request`. */
export function readPeriod(query: PeriodQuery, nowMs: number, wholeDays = false): PagePeriod {
  const { days, month } = query;
  if (days === undefined && month !== undefined) {
    return monthOf(Date.parse(`${month}-01`), nowMs, wholeDays);
  }
  const [fromMs, toMs] = days === undefined ? span(query) : lastDays(Number(days), nowMs);
  const wanted = query.step ?? (toMs - fromMs <= HOURS_UP_TO_MS ? 'hour' : 'day');
  const step = stepFor(wholeDays ? 'day' : wanted, fromMs, toMs);
  const edges = step === 'month' ? monthEdges(fromMs, toMs) : evenEdges(step, fromMs, toMs);
  const lengthMs = (edges.at(-1) ?? 0) - (edges[0] ?? 0);
  return { step, edges, before: soFar(shifted(edges, lengthMs), lengthMs, nowMs, wholeDays) };
}

/** A time in a query or a body. Throws `invalid_request`. */
export function readTime(
  text: string | undefined,
  param: string,
  of: 'query' | 'body' = 'query',
): number {
  const ms = text === undefined ? undefined : parseInstant(text);
  if (ms !== undefined) return ms;
  throw invalidRequest(
    `The field ${param} of the ${of} is not a valid time. Include the time zone, such as 2027-01-31T12:00:00Z.`,
    param,
  );
}

/** The span of a file; undefined means everything. Throws `invalid_request`. */
export function readSpan({ from, to }: SpanQuery) {
  if (from === undefined && to === undefined) return undefined;
  return {
    fromMs: from === undefined ? 0 : readTime(from, 'from'),
    untilMs: to === undefined ? Number.MAX_SAFE_INTEGER : readTime(to, 'to'),
  };
}

/** The members that every response about a period has. */
export function periodRecord({ step, edges }: PagePeriod) {
  const [from = 0] = edges;
  return {
    step,
    buckets: edges.slice(0, -1).map(isoTime),
    from: isoTime(from),
    to: isoTime(edges.at(-1) ?? from),
  };
}

function span({ from, to }: SpanQuery): readonly [number, number] {
  const fromMs = readTime(from, 'from');
  const toMs = readTime(to, 'to');
  if (fromMs < toMs) return [fromMs, toMs];
  throw invalidRequest('The period ends before it starts. Choose a later end.', 'to');
}

/** One day is the last 24 hours with the current one; more are UTC days with today. */
function lastDays(days: number, nowMs: number): readonly [number, number] {
  const toMs = days === 1 ? nextHour(nowMs) : nextUtcDay(nowMs);
  return [toMs - days * DAY_MS, toMs];
}

function stepFor(wanted: 'hour' | 'day', fromMs: number, toMs: number): PeriodStep {
  const count = (stepMs: number) => Math.ceil(toMs / stepMs) - Math.floor(fromMs / stepMs);
  if (wanted === 'hour' && count(HOUR_MS) <= STEPS_MAX) return 'hour';
  return count(DAY_MS) <= STEPS_MAX ? 'day' : 'month';
}

/** Rounds outward to whole steps. */
function evenEdges(step: 'hour' | 'day', fromMs: number, toMs: number): readonly number[] {
  const stepMs = step === 'hour' ? HOUR_MS : DAY_MS;
  const first = Math.floor(fromMs / stepMs);
  const count = Math.ceil(toMs / stepMs) - first;
  return Array.from({ length: count + 1 }, (_, index) => (first + index) * stepMs);
}

/** Whole days, cut at the beginnings of months; of a very long period, its last months. */
function monthEdges(fromMs: number, toMs: number): readonly number[] {
  const until = Math.ceil(toMs / DAY_MS) * DAY_MS;
  const beginMs = Math.max(fromMs, until - STEPS_MAX * LONGEST_MONTH_MS);
  const edges = [Math.floor(beginMs / DAY_MS) * DAY_MS];
  for (let at = nextUtcMonth(beginMs); at < until; at = nextUtcMonth(at)) edges.push(at);
  return [...edges, until].slice(-STEPS_MAX - 1);
}

/** A calendar month by days, up to today, and as many days of the month before. */
function monthOf(atMs: number, nowMs: number, wholeDays: boolean): PagePeriod {
  const { fromMs, untilMs } = utcMonth(atMs);
  const isRunning = nowMs >= fromMs && nowMs < untilMs;
  const edges = evenEdges('day', fromMs, isRunning ? nextUtcDay(nowMs) : untilMs);
  const lastMonth = utcMonth(fromMs - 1);
  const lengthMs = fromMs - lastMonth.fromMs;
  const before = shifted(edges, lengthMs).filter((edge) => edge <= fromMs);
  const isWhole = isRunning ? before : evenEdges('day', lastMonth.fromMs, fromMs);
  return { step: 'day', edges, before: soFar(isWhole, lengthMs, nowMs, wholeDays) };
}

function shifted(edges: readonly number[], byMs: number): readonly number[] {
  return edges.map((edge) => edge - byMs);
}

/** Ends the period before when as much of it had passed as of the present one. */
function soFar(
  before: readonly number[],
  lengthMs: number,
  nowMs: number,
  wholeDays: boolean,
): readonly number[] {
  const passed = (wholeDays ? nextUtcDay(nowMs) : nextHour(nowMs)) - lengthMs;
  const past = before.filter((edge) => edge < passed);
  return past.length === before.length || past.length === 0 ? before : [...past, passed];
}

function nextHour(nowMs: number): number {
  return (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS;
}

/** Unix milliseconds; `undefined` if absent. Throws `invalid_request` for a past time. */
export function readFuture(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseInstant(text);
  if (ms !== undefined && ms > nowMs) return ms;
  throw invalidRequest(
    'The field expires_at of the body is not valid. Enter a future time, such as 2027-01-31T12:00:00Z.',
    'expires_at',
  );
}
