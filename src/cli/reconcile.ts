// `tollgate reconcile`: compares a vendor's usage export with the cost in the books. Exits with 1
// where a row differs by more than the tolerance.

import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Reconciled } from '../operations/reconcile/reconcile.ts';
import { addCommand, CommandError, type Output, type Perform, table } from './command.ts';
import type { Context } from './context.ts';
import { oneOf, parsePercent } from './parse.ts';
import { readSpan, type SpanOptions } from './period.ts';

type Options = Pick<SpanOptions, 'month'> & {
  readonly upstream: readonly string[];
  readonly key: readonly string[];
  readonly tolerance: string;
};

export function addReconcileCommand(program: Command, perform: Perform): void {
  const list = (value: string, all: readonly string[] = []) => [...all, value];
  const command = addCommand(
    program,
    'reconcile <files...>',
    "compare a vendor's usage export with the books",
  )
    .requiredOption('--upstream <id>', "repeatable: those that use the vendor's account", list)
    .option('--key <name=credential>', 'compare by key: the credential of a name', list, [])
    .option('--month <month>', 'a month such as 2026-10 (default: the days of the export)')
    .option('--tolerance <percent>', 'the difference that is accepted', '1');
  perform<Options>(command, reconcileFiles);
}

async function reconcileFiles(
  context: Context,
  options: Options,
  ...names: string[]
): Promise<Output> {
  const { upstream: upstreams, tolerance: percent } = options;
  const all = context.catalog().upstreams;
  if (!upstreams.every((id) => all.has(id))) throw oneOf('--upstream', 'the catalog', all.keys());
  const files = names.map((name) => ({ name, path: resolve(context.directory, name) }));
  const [span, tolerance] = [readSpan(options), parsePercent(percent, '--tolerance')];
  const keys = new Map(options.key.map(keyOf));
  const { reconcile } = await import('../operations/reconcile/reconcile.ts');
  const { database } = await context.openStore();
  const result = await reconcile(database, { files, upstreams, span, keys, tolerance });
  const ok = result.rows.every((row) => row.ok);
  return {
    json: { ok, tolerance_percent: percent, ...result },
    text: text(result, percent),
    exitCode: ok ? 0 : 1,
  };
}

function keyOf(pair: string): [string, string] {
  const [, name, credential] = /^(.+)=(.+)$/.exec(pair) ?? [];
  if (name !== undefined && credential !== undefined) return [name, credential];
  throw new CommandError('invalid_key', `--key needs a pair such as laptop=1, not ${pair}.`);
}

const HEADER = 'DAY,MODEL,KEY,BILLED,BOOKED,BILL USD,BOOKS USD,LIKELY CAUSE'.split(',');

function text({ rows, totals, causes, ...result }: Reconciled, percent: string): string {
  const differing = rows.filter((row) => !row.ok);
  const cells = differing.map(({ day, model, key, vendor, books, ...row }) => [
    day,
    model || '-',
    key || '-',
    String(vendor?.requests ?? '-'),
    String(books?.requests ?? 0),
    String(vendor?.usd ?? '-'),
    String(books?.usd ?? 0),
    row.causes.join(', '),
  ]);
  return [
    `${result.upstreams.join(', ')}, from ${result.from} to ${result.to}.`,
    `${totals.vendor} USD billed, ${totals.books} in the books: a difference of ${totals.difference}.`,
    `Rows that differ by more than ${percent} %: ${differing.length} of ${rows.length}.`,
    ...(differing.length === 0 ? [] : [table(HEADER, cells)]),
    ...Object.entries(causes).map(([cause, meaning]) => `${cause}: ${meaning}`),
    `Requests that were settled after a crash, and have no cost: ${result.crashed_requests}.`,
  ].join('\n');
}
