// Exports requests as CSV (RFC 4180), reading one page of rows at a time.

import { isoTime } from '../../core/calendar.ts';
import { formatTokens } from '../../core/money.ts';
import type { ListedRequest, RequestPage, RequestPlace } from '../../ledger/request-list.ts';

export type ReadRequests = (limit: number, after?: RequestPlace) => Promise<RequestPage>;

const PAGE_ROWS = 500;

type Column = readonly [name: string, value: (row: ListedRequest) => string | number | boolean];

const COLUMNS: readonly Column[] = [
  ['request_id', (row) => row.requestId],
  ['started_at', (row) => isoTime(row.startedAt)],
  ['ended_at', (row) => isoTime(row.endedAt)],
  ['key_id', (row) => row.keyId],
  ['format', (row) => row.format],
  ['stream', (row) => row.stream],
  ['model', (row) => row.modelRequested],
  ['model_served', (row) => row.modelServed ?? ''],
  ['outcome', (row) => row.outcome],
  ['input_tokens', (row) => row.inputTokens],
  ['cached_input_tokens', (row) => row.cachedInputTokens],
  ['cache_write_tokens', (row) => row.cacheWriteTokens],
  ['output_tokens', (row) => row.outputTokens],
  ['reasoning_tokens', (row) => row.reasoningTokens],
  ['usage_basis', (row) => row.usageBasis],
  ['svc_tokens_charged', (row) => formatTokens(row.charged)],
  ['svc_tokens_debited', (row) => formatTokens(row.debited)],
  ['svc_tokens_waived', (row) => formatTokens(row.loss)],
  ['end_user', (row) => row.endUser ?? ''],
];

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** The file in pieces: the header, then one page of rows at a time. */
export async function* csvPages(read: ReadRequests): AsyncGenerator<string, void, undefined> {
  yield `${COLUMNS.map(([name]) => csvCell(name)).join(',')}\r\n`;
  let after: RequestPlace | undefined;
  do {
    const { rows, next } = await read(PAGE_ROWS, after);
    if (rows.length > 0) yield rows.map(line).join('');
    after = next;
  } while (after !== undefined);
}

function line(row: ListedRequest): string {
  return `${COLUMNS.map(([, value]) => csvCell(value(row))).join(',')}\r\n`;
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
