// Compares a vendor's bill with what the same calls cost by the books: `tollgate reconcile`.

import { DAY_MS, type Span, utcDay } from '../../core/calendar.ts';
import type { Catalog } from '../../core/model.ts';
import { MICRO_DECIMALS, parseDecimal } from '../../core/money.ts';
import type { BookedAttempt } from '../../ledger/series/attempts.ts';
import { type AttemptedRequest, eachAttemptedRequest } from '../../ledger/usage-records.ts';
import type { Database } from '../../store/contract.ts';
import { requireUnarchived } from '../archive/notices.ts';
import { OperationError } from '../error.ts';
import { readBilled } from './billed.ts';
import { Cells, type Entry } from './cells.ts';
import { type Compared, compare, LONG_PROMPT } from './compare.ts';
import { type ExportFormat, formatOf, VENDOR_HOSTS, type Vendor } from './formats.ts';
import { badRow, emptyFile, readExport } from './records.ts';

export type BillToCompare = {
  /** Exports of one vendor; the names are for messages. */
  readonly files: readonly { readonly path: string; readonly name: string }[];
  readonly vendor: Vendor | undefined;
  readonly upstreams: readonly string[];
  /** Whole UTC days; undefined: those of the exports. */
  readonly span: Span | undefined;
  /** Credentials by the vendor's names of keys; empty: keys are not compared. */
  readonly keys: ReadonlyMap<string, string>;
  /** In 10⁻⁴ of a percent. */
  readonly tolerance: bigint;
};

export type Reconciled = {
  readonly exports: readonly string[];
  readonly upstreams: readonly string[];
  readonly span: Span;
  readonly rows: readonly Compared[];
  /** What the comparison cannot say. */
  readonly notes: readonly string[];
};

export async function reconcile(
  database: Database,
  catalog: Catalog,
  wanted: BillToCompare,
): Promise<Reconciled> {
  const cells = new Cells();
  const { formats, span, notes } = await addBill(cells, wanted);
  const upstreams = upstreamsOf(catalog, formats[0]?.vendor ?? 'openai', wanted);
  // A call may begin up to a day behind its request, which may be archived then.
  const read = { fromMs: span.fromMs - DAY_MS, untilMs: span.untilMs };
  let crashed = 0;
  await requireUnarchived(database, span);
  for await (const request of eachAttemptedRequest(database, read)) {
    if (request.attempts.length === 0 && upstreams.includes(request.upstream ?? '')) crashed += 1;
    for (const attempt of request.attempts) {
      const { upstream = '', startedAt = 0, credential } = attempt;
      // Without a credential the upstream was not called.
      if (credential === undefined || !upstreams.includes(upstream)) continue;
      if (!isWithin(startedAt, span)) continue;
      cells.add('books', bookedEntry(attempt, request, wanted.keys.size > 0 ? credential : ''));
    }
  }
  await requireUnarchived(database, span);
  const rows = cells.sorted().map((cell) => compare(cell, wanted.tolerance));
  const sides = rows.map(({ vendor }) => vendor);
  for (const [applies, text] of [
    [!cells.byModel, 'The export is not grouped by model: whole days are compared.'],
    [
      sides.every((side) => side?.usd === undefined),
      'The export has no amounts: tokens are compared.',
    ],
    [
      sides.every((side) => side?.tokens.input === undefined),
      'The export has no tokens: causes are less certain.',
    ],
    [
      sides.some((side) => side?.marks['byok']),
      'Other vendors bill some calls themselves (BYOK): no sum has that.',
    ],
    [crashed > 0, `Requests that were settled after a crash, and have no cost: ${crashed}.`],
  ] as const) {
    if (applies) notes.add(text);
  }
  return { exports: formats.map(({ name }) => name), upstreams, span, rows, notes: [...notes] };
}

/** Throws `OperationError` for an unknown format or a bad row. */
async function addBill(cells: Cells, { files, span, keys, vendor }: BillToCompare) {
  const formats: ExportFormat[] = [];
  const notes = new Set<string>();
  let [fromMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { path, name } of files) {
    const { columns, records, hasMore } = await readExport(path, name);
    const format = formatOf(columns, name, formats[0]?.vendor ?? vendor);
    formats.push(format);
    if (hasMore) notes.add(`${name} ends with has_more: its next pages are missing.`);
    let isEmpty = true;
    for await (const record of records) {
      isEmpty = false;
      const entry = readBilled(record, format);
      if (entry === undefined || !isWithin(entry.atMs, span)) continue;
      const { atMs, key, model } = entry;
      if (keys.size > 0 && key === '') throw badRow(record.place, 'it names no key for --key');
      if (keys.size === 0 && key !== '')
        notes.add('The keys of the export are not compared: none has a --key.');
      [fromMs, lastMs] = [Math.min(fromMs, atMs), Math.max(lastMs, atMs)];
      cells.byModel ||= model !== '';
      cells.add('vendor', { ...entry, key: keys.size === 0 ? '' : (keys.get(key) ?? key) });
    }
    if (isEmpty) throw emptyFile(name);
  }
  if (span !== undefined) return { formats, notes, span };
  if (lastMs < fromMs) throw emptyFile('The export');
  return {
    formats,
    notes,
    span: { fromMs: utcDay(fromMs).fromMs, untilMs: utcDay(lastMs).untilMs },
  };
}

function isWithin(atMs: number, span: Span | undefined): boolean {
  return span === undefined || (atMs >= span.fromMs && atMs < span.untilMs);
}

function bookedEntry(attempt: BookedAttempt, request: AttemptedRequest, key: string): Entry {
  const { usage, cost, startedAt = 0, upstreamModel, model = '', reportedCostUsd } = attempt;
  // 10⁻⁶ service token times 10⁻⁶ USD for a million of them: 10⁻¹⁸ USD.
  const micro = cost === undefined ? undefined : parseDecimal(cost, MICRO_DECIMALS);
  const isEstimated = usage !== undefined && usage.basis !== 'reported';
  const marks = {
    no_cost: usage !== undefined && micro === undefined,
    estimated: isEstimated,
    cancelled: isEstimated && request.outcome === 'client_cancelled',
    uncounted: usage === undefined,
    long: (usage?.inputTokens ?? 0) > LONG_PROMPT,
  };
  return {
    ...{ atMs: startedAt, model: upstreamModel ?? model, key, requests: 1 },
    usd: (micro ?? 0n) * request.usdPerMillion,
    reported: parseDecimal(reportedCostUsd ?? '', 18),
    tokens: {
      ...{ input: usage?.inputTokens, cached_input: usage?.cachedInputTokens },
      ...{ cache_write: usage?.cacheWriteTokens, output: usage?.outputTokens },
    },
    marks: Object.entries(marks).flatMap(([mark, applies]) => (applies ? [mark] : [])),
  };
}

/** Default: those at the vendor's host. */
function upstreamsOf(catalog: Catalog, vendor: Vendor, wanted: BillToCompare): readonly string[] {
  const host = VENDOR_HOSTS[vendor];
  const known = [...catalog.upstreams.values()];
  const atHost = known.filter((upstream) => {
    const own = upstream.dialect === 'demo' ? null : URL.parse(upstream.baseUrl);
    return own?.hostname === host || own?.hostname.endsWith(`.${host}`);
  });
  const ids = wanted.upstreams.length > 0 ? wanted.upstreams : atHost.map(({ id }) => id);
  const missing = ids.find((id) => !catalog.upstreams.has(id));
  if (ids.length === 0 || missing !== undefined) {
    const what =
      missing === undefined ? `No upstream is at ${host}` : `There is no upstream ${missing}`;
    const names = known.map(({ id }) => id).join(', ');
    throw new OperationError('no_upstream', `${what}. Choose with --upstream: ${names}.`);
  }
  return ids;
}
