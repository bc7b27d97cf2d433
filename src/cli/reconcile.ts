// `tollgate reconcile`: compares a vendor's usage export with the cost in the books. Exits with 1
// where a row differs by more than the tolerance.

import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { DAY_MS, isoTime } from '../core/calendar.ts';
import { readDecimal } from '../core/decimal.ts';
import { formatDecimal } from '../core/money.ts';
import type { Side } from '../operations/reconcile/cells.ts';
import type { Compared } from '../operations/reconcile/compare.ts';
import { VENDORS, type Vendor } from '../operations/reconcile/formats.ts';
import type { Reconciled } from '../operations/reconcile/reconcile.ts';
import { addCommand, CommandError, type Output, type Perform, table } from './command.ts';
import type { Context } from './context.ts';
import { readSpan, type SpanOptions } from './period.ts';

type Options = SpanOptions & {
  readonly vendor?: Vendor;
  readonly upstream: readonly string[];
  readonly key: readonly string[];
  readonly tolerance: string;
};

export function addReconcileCommand(program: Command, perform: Perform): void {
  const list = (value: string, all: readonly string[]) => [...all, value];
  const command = addCommand(
    program,
    'reconcile <files...>',
    "compare a vendor's usage export with the books",
  )
    .option('--upstream <id>', "repeatable (default: those at the vendor's host)", list, [])
    .option('--key <name=credential>', 'compare by key: the credential of a name', list, [])
    .option('--month <month>', 'a month such as 2026-10 (default: the days of the export)')
    .option('--from <day>', 'from a day on, UTC')
    .option('--to <day>', 'before a day')
    .option('--tolerance <percent>', 'the difference that is accepted', '1')
    .addOption(new Option('--vendor <name>', 'default: by the columns').choices(VENDORS));
  perform<Options>(command, reconcileFiles);
}

async function reconcileFiles(
  context: Context,
  options: Options,
  ...names: string[]
): Promise<Output> {
  const { vendor, upstream: upstreams, key, tolerance: percent } = options;
  const span = readSpan(options);
  if (span !== undefined && (span.fromMs % DAY_MS !== 0 || span.untilMs % DAY_MS !== 0)) {
    throw new CommandError(
      'invalid_time',
      'Vendors bill whole days: give --from and --to as days.',
    );
  }
  const tolerance = readDecimal(percent, 4);
  if (tolerance?.isExact !== true || tolerance.value < 0n) {
    throw new CommandError('invalid_number', '--tolerance needs a percentage such as 0.5.');
  }
  const files = names.map((name) => ({ name, path: resolve(context.directory, name) }));
  const { reconcile } = await import('../operations/reconcile/reconcile.ts');
  const { database } = await context.openStore();
  const wanted = { files, vendor, upstreams, span, keys: keysOf(key), tolerance: tolerance.value };
  const result = await reconcile(database, context.catalog(), wanted);
  const ok = result.rows.every((row) => row.isWithin);
  return {
    json: { ok, tolerance_percent: percent, ...record(result) },
    text: text(result, percent),
    exitCode: ok ? 0 : 1,
  };
}

/** Without `=`, the position is the credential. */
function keysOf(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.map((pair, index) => {
      const at = pair.lastIndexOf('=');
      return at < 0 ? [pair, String(index + 1)] : [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function record({ span, rows, ...result }: Reconciled) {
  const { billed, booked } = totals(rows);
  const side = (of: Side | undefined) =>
    of === undefined ? null : { ...of, usd: amountOf(of.usd), reported: amountOf(of.reported) };
  return {
    ...{ ...result, from: isoTime(span.fromMs), to: isoTime(span.untilMs) },
    totals: { vendor: usd(billed), books: usd(booked), difference: usd(billed - booked) },
    rows: rows.map(({ difference, isWithin, vendor, books, ...row }) => ({
      ...{
        ...row,
        ok: isWithin,
        difference_usd: amountOf(difference),
      },
      ...{ vendor: side(vendor), books: side(books) },
    })),
  };
}

/** Without rows whose amount is not exported. */
function totals(rows: readonly Compared[]) {
  const compared = rows.filter((row) => row.difference !== undefined);
  const sumOf = (side: 'vendor' | 'books') =>
    compared.reduce((sum, row) => sum + (row[side]?.usd ?? 0n), 0n);
  return { billed: sumOf('vendor'), booked: sumOf('books') };
}

const HEADER = 'DAY,MODEL,KEY,BILLED,BOOKED,BILL USD,BOOKS USD,LIKELY CAUSE'.split(',');

function text({ exports, upstreams, span, rows, notes }: Reconciled, percent: string): string {
  const [from, last] = [span.fromMs, span.untilMs - DAY_MS].map((ms) => isoTime(ms).slice(0, 10));
  const differing = rows.filter((row) => !row.isWithin);
  const { billed, booked } = totals(rows);
  const cells = differing.map(({ day, model, key, vendor, books, causes }) => [
    ...[day, model || '-', key || '-', String(vendor?.requests ?? '-')],
    ...[String(books?.requests ?? 0), vendor?.usd === undefined ? '-' : short(vendor.usd)],
    ...[short(books?.usd ?? 0n), causes.map(({ code }) => code).join(', ')],
  ]);
  return [
    `${exports.join(' and ')} against ${upstreams.join(', ')}, ${from} to ${last}, UTC.`,
    `${short(billed)} USD billed, ${short(booked)} in the books: a difference of ${short(billed - booked)}.`,
    `Rows that differ by more than ${percent} %: ${differing.length} of ${rows.length}.`,
    ...(differing.length === 0 ? [] : [table(HEADER, cells)]),
    ...differing.flatMap(({ day, model, causes }) =>
      causes.map((cause) => `${day} ${model || 'all models'}: ${cause.text}`),
    ),
    ...notes,
  ].join('\n');
}

const amountOf = (amount: bigint | undefined) => (amount === undefined ? null : usd(amount));
const usd = (amount: bigint) => formatDecimal(amount, 18);

/** Rounded down to 10⁻⁶ USD; JSON has all digits. */
const short = (amount: bigint) => formatDecimal(amount / 10n ** 12n, 6);
