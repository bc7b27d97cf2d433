// Exports requests as CSV (RFC 4180), reading one page of rows at a time.

import { isoTime } from '../../core/calendar.ts';
import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
import type { ListedRequest } from '../../ledger/request-list.ts';
import type { LogEntry, LogPage, LogPlace } from '../../operations/request-log.ts';
import { problemOf, statusOf } from '../edge/problem.ts';

export type ReadRequests = (limit: number, after?: LogPlace) => Promise<LogPage>;

const PAGE_ROWS = 500;

type Cell = string | number | boolean;
type Column = readonly [name: string, value: (entry: LogEntry, rate: UsdRate) => Cell];

const COLUMNS: readonly Column[] = [
  ['request_id', ({ kind, row }) => (kind === 'ended' ? row.requestId : row.id)],
  ['started_at', ({ kind, row }) => isoTime(kind === 'ended' ? row.startedAt : row.at)],
  ['ended_at', ({ kind, row }) => isoTime(kind === 'ended' ? row.endedAt : row.lastAt)],
  ['key_id', ({ row }) => row.keyId ?? ''],
  ended('format', (row) => row.format),
  ended('stream', (row) => row.stream),
  ['model', ({ kind, row }) => (kind === 'ended' ? row.modelRequested : (row.model ?? ''))],
  ended('model_served', (row) => row.modelServed ?? ''),
  ['outcome', ({ kind, row }) => (kind === 'ended' ? row.outcome : 'refused')],
  ended('input_tokens', (row) => row.inputTokens, 0),
  ended('cached_input_tokens', (row) => row.cachedInputTokens, 0),
  ended('cache_write_tokens', (row) => row.cacheWriteTokens, 0),
  ended('output_tokens', (row) => row.outputTokens, 0),
  ended('reasoning_tokens', (row) => row.reasoningTokens, 0),
  ended('usage_basis', (row) => (row.modelServed === null ? '' : row.usageBasis)),
  ended('svc_tokens_charged', (row) => formatTokens(row.charged), '0'),
  ended('svc_tokens_debited', (row) => formatTokens(row.debited), '0'),
  ended('svc_tokens_waived', (row) => formatTokens(row.loss), '0'),
  ended('usd_charged', (row, rate) => formatUsd(row.charged, rate), '0'),
  ended('usd_debited', (row, rate) => formatUsd(row.debited, rate), '0'),
  ended('usd_waived', (row, rate) => formatUsd(row.loss, rate), '0'),
  ended('end_user', (row) => row.endUser ?? ''),
  ['status', (entry) => statusOf(entry) ?? ''],
  ['error_code', (entry) => problemOf(entry)?.code ?? ''],
  ['error_message', (entry) => problemOf(entry)?.message ?? ''],
  ['what_to_do', (entry) => problemOf(entry)?.what_to_do ?? ''],
  /** Equal refused requests of a minute are one row. */
  ['requests', ({ kind, row }) => (kind === 'ended' ? 1 : row.count)],
];

/** A column that a refused request has nothing for. */
function ended(
  name: string,
  value: (row: ListedRequest, rate: UsdRate) => Cell,
  none: Cell = '',
): Column {
  return [name, ({ kind, row }, rate) => (kind === 'ended' ? value(row, rate) : none)];
}

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** The file in pieces: the header, then one page of rows at a time, which may be empty. */
export async function* csvPages(
  read: ReadRequests,
  rate: UsdRate,
): AsyncGenerator<string, void, undefined> {
  yield `${COLUMNS.map(([name]) => csvCell(name)).join(',')}\r\n`;
  let after: LogPlace | undefined;
  do {
    const { entries, next } = await read(PAGE_ROWS, after);
    const lines = entries.map((entry) => COLUMNS.map(([, value]) => csvCell(value(entry, rate))));
    yield lines.map((cells) => `${cells.join(',')}\r\n`).join('');
    after = next;
  } while (after !== undefined);
}

/**
 * Positions where a spreadsheet may start a formula: the start of a cell, or after a list separator.
 * A spreadsheet with the separator `;` also splits inside our quotes.
 */
const FORMULA_STARTS =
  /(?<=^|[;,|\t\r\n\v\f\u0085\u2028\u2029])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r\n])/g;

/**
 * One cell. Text is quoted, and an apostrophe before a possible formula keeps it text. Numbers stay
 * numbers.
 */
export function csvCell(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value);
  return `"${value.replace(FORMULA_STARTS, "'").replaceAll('"', '""')}"`;
}
