// Compares a vendor's bill with what the same calls cost by the books: `tollgate reconcile`.

import { DAY_MS, isoTime, type Span, utcDay } from '../../core/calendar.ts';
import { MICRO_DECIMALS, parseDecimal } from '../../core/money.ts';
import type { BookedAttempt } from '../../ledger/series/attempts.ts';
import { eachAttemptedRequest } from '../../ledger/usage-records.ts';
import type { Database } from '../../store/contract.ts';
import { requireUnarchived } from '../archive/notices.ts';
import { badRow, eachRow, readBilled } from './bill.ts';
import { Cells, type Entry, LONG_PROMPT } from './compare.ts';

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
    ...{ atMs: startedAt, model: upstreamModel ?? model, key: '' },
    sums: {
      ...{ rows: 1n, requests: 1n, usd: (micro ?? 0n) * usdPerMillion },
      reported: parseDecimal(reportedCostUsd ?? '', 18),
      ...{ input: count(usage?.inputTokens), cached_input: count(usage?.cachedInputTokens) },
      ...{ cache_write: count(usage?.cacheWriteTokens), output: count(usage?.outputTokens) },
      no_cost: one(usage !== undefined && micro === undefined),
      estimated: one(usage?.basis !== 'reported'),
      long: one((usage?.inputTokens ?? 0) > LONG_PROMPT),
    },
  };
}
