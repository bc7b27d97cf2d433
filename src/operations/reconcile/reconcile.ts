// Compares a vendor's bill with what the same calls cost by the books: `tollgate reconcile`.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { DAY_MS, isoTime, type Span, utcDay } from '../../core/calendar.ts';
import { parseInstant } from '../../core/instant.ts';
import { isObject, parseJsonNumbers } from '../../core/json.ts';
import { MICRO_DECIMALS, parseDecimal, readNumber } from '../../core/money.ts';
import type { BookedAttempt } from '../../ledger/series/attempts.ts';
import { eachAttemptedRequest } from '../../ledger/usage-records.ts';
import type { Database } from '../../store/contract.ts';
import { requireUnarchived } from '../archive/notices.ts';
import { OperationError } from '../error.ts';
import { type BillSums, Cells, type Entry, LONG_PROMPT } from './compare.ts';

export type BillToCompare = {
  readonly files: readonly { readonly path: string; readonly name: string }[];
  readonly upstreams: readonly string[];
  /** Whole UTC days; undefined: those of the exports. */
  readonly span: Span | undefined;
  /** Credentials by the vendor's names of keys; empty: keys are not compared. */
  readonly keys: ReadonlyMap<string, string>;
  /** In 10⁻⁴ of a percent. */
  readonly tolerance: bigint;
};

/** Throws `OperationError` for a file that cannot be read, a bad row, and archived requests. */
export async function reconcile(database: Database, wanted: BillToCompare) {
  const { upstreams, keys, tolerance } = wanted;
  const cells = new Cells();
  const { span, byModel } = await addBill(cells, wanted);
  let crashed = 0;
  await requireUnarchived(database, span);
  // A call may begin up to a day behind its request, which may be archived then.
  const read = { fromMs: span.fromMs - DAY_MS, untilMs: span.untilMs };
  for await (const request of eachAttemptedRequest(database, read)) {
    if (request.attempts.length === 0 && upstreams.includes(request.upstream ?? '')) crashed += 1;
    for (const attempt of request.attempts) {
      const { upstream = '', startedAt = 0, credential } = attempt;
      // Without a credential the upstream was not called.
      if (credential === undefined || !upstreams.includes(upstream)) continue;
      if (!isWithin(startedAt, span)) continue;
      const entry = bookedEntry(attempt, request.usdPerMillion);
      const model = byModel ? entry.model : '';
      cells.add('books', { ...entry, model, key: keys.size > 0 ? credential : '' });
    }
  }
  await requireUnarchived(database, span);
  const days = { from: isoTime(span.fromMs), to: isoTime(span.untilMs) };
  return { upstreams, ...days, crashed_requests: crashed, ...cells.compare(tolerance) };
}

export type Reconciled = Awaited<ReturnType<typeof reconcile>>;

async function addBill(cells: Cells, { files, span, keys }: BillToCompare) {
  let byModel = false;
  let [fromMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { path, name } of files) {
    for await (const row of eachRow(path, name)) {
      const entry = readBilled(row);
      if (entry === undefined || !isWithin(entry.atMs, span)) continue;
      const { atMs, key, model } = entry;
      if (keys.size > 0 && key === '') throw badRow(row.place, 'it names no key for --key');
      [fromMs, lastMs] = [Math.min(fromMs, atMs), Math.max(lastMs, atMs)];
      byModel ||= model !== '';
      cells.add('vendor', { ...entry, key: keys.size === 0 ? '' : (keys.get(key) ?? key) });
    }
  }
  if (lastMs < fromMs) throw badRow('The export', 'it has no row in this period');
  const days = { fromMs: utcDay(fromMs).fromMs, untilMs: utcDay(lastMs).untilMs };
  return { byModel, span: span ?? days };
}

function isWithin(atMs: number, span: Span | undefined): boolean {
  return span === undefined || (atMs >= span.fromMs && atMs < span.untilMs);
}

function bookedEntry(attempt: BookedAttempt, usdPerMillion: bigint): Entry {
  const { usage, cost, startedAt = 0, upstreamModel, model = '', reportedCostUsd } = attempt;
  // 10⁻⁶ service token times 10⁻⁶ USD for a million of them: 10⁻¹⁸ USD.
  const micro = parseDecimal(cost ?? '', MICRO_DECIMALS);
  const count = (value?: number) => (value === undefined ? undefined : BigInt(value));
  const one = (applies: boolean) => (applies ? 1n : undefined);
  return {
    atMs: startedAt,
    model: upstreamModel ?? model,
    key: '',
    sums: {
      rows: 1n,
      requests: 1n,
      usd: (micro ?? 0n) * usdPerMillion,
      reported: parseDecimal(reportedCostUsd ?? '', 18),
      input: count(usage?.inputTokens),
      cached_input: count(usage?.cachedInputTokens),
      cache_write: count(usage?.cacheWriteTokens),
      output: count(usage?.outputTokens),
      no_cost: one(usage !== undefined && micro === undefined),
      estimated: one(usage?.basis !== 'reported'),
      long: one((usage?.inputTokens ?? 0) > LONG_PROMPT),
    },
  };
}

// A usage export, CSV (RFC 4180) or JSON, is read as flat rows. Columns are
// in snake case, and members of nested objects are joined to their names: `amount.value` is
// `amount_value`. Sources of the columns, read on 2026-11-28:
// - OpenAI, GET /organization/usage/completions and /organization/costs: the API reference at
//   developers.openai.com/api/reference. The console's CSV files have the same members as columns;
//   `line_item` is such as `gpt-4o-mini-2024-07-18, cached input`, and `priority | gpt-5, output`.
// - Anthropic, GET /v1/organizations/usage_report/messages and /cost_report: platform.claude.com/
//   docs/en/api/admin. The console's files `claude_api_tokens_*.csv` and `claude_api_cost_*.csv`:
//   their headers in public repositories (2026-03 to 2026-09).
// - OpenRouter, GET /api/v1/activity: openrouter.ai/docs/api-reference. The CSV file of the activity
//   page by day: its header in public repositories (2026).

const DAY = ['start_time', 'starting_at', 'usage_date_utc', 'date'];
const MODEL = ['model', 'model_version', 'slug', 'line_item'];
const KEY = ['api_key_id', 'api_key'];
const CURRENCY = ['amount_currency', 'currency'];

const CACHED = ['cache_read_input_tokens', 'usage_input_tokens_cache_read'];
const WRITTEN = [
  'cache_creation_ephemeral_5m_input_tokens',
  'cache_creation_ephemeral_1h_input_tokens',
  'usage_input_tokens_cache_write_5m',
  'usage_input_tokens_cache_write_1h',
];
/** Anthropic's input is without the cache. */
const INPUT = ['uncached_input_tokens', 'usage_input_tokens_no_cache', ...CACHED, ...WRITTEN];

/** Each sum adds up those of its columns that the export has. */
const SUMS = [
  ['usd', 18, ['amount_value', 'cost_usd', 'usage']],
  // Anthropic's cost report, in cents.
  ['usd', 16, ['amount']],
  ['requests', 0, ['num_model_requests', 'requests']],
  ['input', 0, ['input_tokens', 'prompt_tokens', ...INPUT]],
  ['cached_input', 0, ['input_cached_tokens', ...CACHED]],
  ['cache_write', 0, ['input_cache_write_tokens', ...WRITTEN]],
  ['output', 0, ['output_tokens', 'usage_output_tokens', 'completion_tokens']],
] as const;

/** Undefined for a day without anything. Throws `bad_row` with the row's place. */
function readBilled({ place, values }: ExportRow): Entry | undefined {
  const columnIn = (columns: readonly string[]) => columns.find((column) => values.has(column));
  const text = (columns: readonly string[]) => values.get(columnIn(columns) ?? '') ?? '';
  const badValue = (columns: readonly string[], expected: string) =>
    badRow(place, `${columnIn(columns)} must be ${expected}, not "${text(columns).slice(0, 40)}"`);
  const counted = SUMS.flatMap(([name, decimals, columns]) =>
    columns.flatMap((column) => (values.has(column) ? [{ name, decimals, column }] : [])),
  );
  const names = counted.map(({ name }) => name);
  const isBill = names.includes('usd') || (names.includes('input') && names.includes('output'));
  const unpriced = isBill ? undefined : SUMS.flatMap(([, , columns]) => columns);
  const lacking = [DAY, MODEL].find((columns) => columnIn(columns) === undefined) ?? unpriced;
  if (lacking !== undefined) throw badRow(place, `it lacks a column among ${lacking.join(', ')}`);
  if (counted.every(({ column }) => values.get(column) === '')) return undefined;
  const atMs = instantOf(text(DAY));
  if (atMs === undefined) throw badValue(DAY, 'a day or a time');
  if (!/^(usd)?$/i.test(text(CURRENCY))) throw badValue(CURRENCY, 'usd');
  const sums: BillSums = { rows: 1n };
  for (const { name, decimals, column } of counted) {
    const read = readNumber(text([column]) || '0', decimals);
    const isCount = read?.isExact === true && read.value >= 0n;
    if (read === undefined || !(name === 'usd' || isCount)) throw badValue([column], 'a number');
    sums[name] = (sums[name] ?? 0n) + read.value;
  }
  return { atMs, model: modelOf(text(MODEL)), key: text(KEY), sums };
}

/** Of a line item: `priority | gpt-5, cached input` is `gpt-5`, and web search stays as it is. */
function modelOf(item: string): string {
  const [, model, kind = ''] = /^(?:[a-z]+ \| )?([^,]*), (.*)$/i.exec(item) ?? [];
  return model !== undefined && /\b(input|output|cache)/.test(kind) ? model : item;
}

/** Unix seconds, a day, or an instant; UTC where it has no zone. */
function instantOf(text: string): number | undefined {
  if (/^\d{9,11}$/.test(text)) return Number(text) * 1_000;
  const time = text.replace(' ', 'T');
  return parseInstant(time) ?? parseInstant(`${time}Z`) ?? parseInstant(`${time}T00:00:00Z`);
}

/** `place` is such as `bill.csv, line 7`. */
type ExportRow = { readonly place: string; readonly values: ReadonlyMap<string, string> };

/** `name` is the file in messages. CSV is read row by row, because it may be long. */
async function* eachRow(path: string, name: string): AsyncGenerator<ExportRow> {
  const file = Bun.file(path);
  if (!(await file.exists())) {
    throw new OperationError('file_not_readable', `${name} cannot be read. Check its path.`);
  }
  const isJson = /^\s*[[{]/.test(await file.slice(0, 1_024).text());
  yield* isJson ? jsonRows(parseJsonNumbers(await file.text()), `${name}, $`) : csvRows(path, name);
}

/** A longer row has a quote that is never closed. */
const ROW_LENGTH_MAX = 100_000;

async function* csvRows(path: string, name: string): AsyncGenerator<ExportRow> {
  const input = createReadStream(path, 'utf8');
  let header: readonly string[] | undefined;
  let [row, number, first] = ['', 0, 1];
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    row = row === '' ? line : `${row}\n${line}`;
    if (row.length > ROW_LENGTH_MAX) break;
    // A line break between quotes does not end a row.
    if (row.split('"').length % 2 === 0) continue;
    const place = `${name}, line ${first}`;
    const cells = [...`,${row}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
      ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
    );
    const isBlank = row.trim() === '';
    [row, first] = ['', number + 1];
    if (isBlank) continue;
    if (header === undefined) {
      header = cells.map(columnName);
    } else if (cells.length !== header.length) {
      throw badRow(place, `it has ${cells.length} cells, and the header ${header.length}`);
    } else {
      yield { place, values: new Map(header.map((column, at) => [column, cells[at] ?? ''])) };
    }
  }
  if (row !== '') throw badRow(`${name}, line ${first}`, 'a quote is never closed');
}

/** Of one page of an answer, a list of pages, or a list of rows; those of a bucket get its times. */
function* jsonRows(value: unknown, place: string, outer = {}): Generator<ExportRow> {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* jsonRows(each, `${place}[${index}]`, outer);
    return;
  }
  if (!isObject(value)) throw badRow(place, 'it is neither CSV nor an object of JSON');
  const { data, results, ...own } = value;
  const members = { ...outer, ...own };
  if (Array.isArray(data)) yield* jsonRows(data, `${place}.data`, members);
  else if (Array.isArray(results)) yield* jsonRows(results, `${place}.results`, members);
  else yield { place, values: new Map(valuesOf(members)) };
}

function valuesOf(object: object, prefix = ''): [string, string][] {
  return Object.entries(object).flatMap(([key, member]: [string, unknown]) => {
    const name = columnName(`${prefix}${key}`);
    return isObject(member) ? valuesOf(member, `${name}_`) : [[name, String(member ?? '')]];
  });
}

function columnName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
}

function badRow(place: string, what: string): OperationError {
  return new OperationError('bad_row', `${place}: ${what}. Export the file again.`);
}
