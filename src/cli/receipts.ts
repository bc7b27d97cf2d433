// `tollgate receipts`: what each account was told of its money, to take along and to check without
// this server. `verify` with files needs neither a database nor settings.

import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { formatTokens } from '../core/money.ts';
import { type ChainTotals, createChainCheck } from '../core/receipt-chain.ts';
import { receiptDifferences } from '../ledger/audit/receipts.ts';
import { findReceipt, findSlice, receiptPages } from '../ledger/receipt-slices.ts';
import { addCommand, addGroup, CommandError, type Output, type Perform } from './command.ts';
import type { Context, Store } from './context.ts';
import { checkFile, checkJoint, exportLines, sha256 } from './receipt-file.ts';
import { readSpan, type SpanOptions } from './span.ts';

export function addReceiptCommands(program: Command, perform: Perform): void {
  const receipts = addGroup(program, 'receipts', 'export, check and show the receipts of accounts');
  perform<ExportOptions>(
    addCommand(receipts, 'export', 'write the receipts of an account, one JSON document a line')
      .requiredOption('--account <account>', 'whose receipts')
      .option('--month <month>', 'those of a month such as 2026-10 (default: all)')
      .option('--from <time>', 'those from a day or an instant on')
      .option('--to <time>', 'those before a day or an instant')
      .option('--out <file>', 'a new file (default: standard output)'),
    exportReceipts,
  );
  perform<VerifyOptions>(
    addCommand(receipts, 'verify [files...]', 'check exported files, or the books themselves')
      .option('--account <account>', 'check the receipts that the books have of this account')
      .option('--all', 'check the receipts that the books have of every account'),
    verify,
  );
  perform(
    addCommand(receipts, 'show <request>', 'show the receipt of a request or of a movement'),
    showReceipt,
  );
}

type ExportOptions = SpanOptions & { readonly account: string; readonly out?: string };

function exportReceipts(context: Context, options: ExportOptions): Output {
  const span = readSpan(options);
  const { database, accounts } = context.openStore();
  const { id } = accounts.find(options.account);
  const slice = findSlice(database.db, id, span);
  if (slice === undefined) {
    throw new CommandError('no_receipts', 'This account has no receipts of that time.');
  }
  const pieces = exportLines(receiptPages(database.db, id, slice));
  if (options.out === undefined) return { json: null, text: '', pieces };
  const file = resolve(context.directory, options.out);
  writeNewFile(file, pieces);
  const receipts = slice.last - slice.first + 1;
  return {
    json: { export: { file, account_id: id, ...slice, receipts } },
    text: `Wrote ${receipts} receipts, ${slice.first} to ${slice.last}, to ${file}.`,
  };
}

function writeNewFile(path: string, pieces: Iterable<string>): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw exists
      ? new CommandError('file_exists', `${path} exists already. Give another name.`)
      : new CommandError(
          'file_not_writable',
          `${path} cannot be written. Check that its directory exists and can be written by this user.`,
        );
  }
  try {
    for (const piece of pieces) writeAll(descriptor, Buffer.from(piece));
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

type VerifyOptions = { readonly account?: string; readonly all?: boolean };

/** What was looked at: a file by its name, or an account of the books. */
type Verified = {
  readonly name: string;
  readonly totals: ChainTotals;
  readonly problems: readonly Problem[];
};

/** `of` is the number of a receipt, or what the books know it by. */
type Problem = { readonly of: number | string; readonly kind: string; readonly detail: string };

async function verify(
  context: Context,
  { account, all }: VerifyOptions,
  ...files: string[]
): Promise<Output> {
  const ways = [files.length > 0, account !== undefined, all === true].filter(Boolean).length;
  if (ways !== 1) {
    throw new CommandError('invalid_arguments', 'Give files, or --account, or --all.');
  }
  if (files.length > 0) return verifiedOutput(await verifyFiles(context.directory, files));
  const store = context.openStore();
  const ids =
    account === undefined
      ? store.accounts.list().map(({ id }) => id)
      : [store.accounts.find(account).id];
  return verifiedOutput(ids.map((id) => verifyBooks(store, id)));
}

async function verifyFiles(directory: string, files: readonly string[]): Promise<Verified[]> {
  const verified: Verified[] = [];
  for (const name of files) {
    const { totals, problems } = await checkFile(resolve(directory, name)).catch(() => {
      throw new CommandError('file_not_readable', `${name} cannot be read.`);
    });
    const joints = verified.flatMap((before) => checkJoint(before.totals, totals) ?? []);
    const all = [...problems, ...joints];
    verified.push({
      name,
      totals,
      problems: all.map(({ sequence, kind, detail }) => ({ of: sequence, kind, detail })),
    });
  }
  return verified;
}

/** The chain, and what it says against the rest of the books. */
function verifyBooks({ database }: Store, accountId: string): Verified {
  const check = createChainCheck(sha256);
  const slice = findSlice(database.db, accountId, undefined);
  const pages = slice === undefined ? [] : receiptPages(database.db, accountId, slice);
  for (const bodies of pages) for (const body of bodies) check.take(body);
  const problems = [...receiptDifferences(database.db, { accountId })].map(
    ({ subject, kind, detail }) => ({ of: subject, kind, detail }),
  );
  return { name: accountId, totals: check.totals(), problems };
}

function verifiedOutput(verified: readonly Verified[]): Output {
  const ok = verified.every(({ problems }) => problems.length === 0);
  return {
    json: { ok, checked: verified.map(verifiedRecord) },
    text: verified.map(verifiedText).join('\n'),
    exitCode: ok ? 0 : 1,
  };
}

function verifiedRecord({ name, totals, problems }: Verified) {
  return {
    name,
    ok: problems.length === 0,
    account_id: totals.accountId ?? null,
    first: totals.first,
    last: totals.last,
    requests: totals.requests,
    movements: totals.movements,
    opening_balance: formatTokens(totals.openingBalance),
    credited: formatTokens(totals.credited),
    debited: formatTokens(totals.debited),
    loss: formatTokens(totals.loss),
    closing_balance: formatTokens(totals.closingBalance),
    problems,
  } as const;
}

/** Problems that are told in words; programs get all of them. */
const TOLD_PROBLEMS_MAX = 20;

function verifiedText(verified: Verified): string {
  const { name, totals, problems } = verified;
  const { first, last, requests, movements } = totals;
  const record = verifiedRecord(verified);
  const told = problems
    .slice(0, TOLD_PROBLEMS_MAX)
    .map(({ of, kind, detail }) => `  ${kind}  ${of}  ${detail}`);
  const more = problems.length - told.length;
  return [
    `${problems.length === 0 ? 'ok   ' : 'WRONG'}  ${name}: receipts ${first} to ${last} of ${record.account_id ?? 'nobody'}`,
    `  ${requests} requests, ${movements} other movements`,
    `  ${record.opening_balance} at first, ${record.credited} credited, ${record.debited} debited, ${record.closing_balance} at last`,
    ...told,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n');
}

function showReceipt(context: Context, _options: object, subject = ''): Output {
  const { database } = context.openStore();
  const found = findReceipt(database.db, subject);
  if (found === undefined) {
    throw new CommandError(
      'receipt_not_found',
      'There is no receipt of a request or a movement with this id. A request that is under way, or was refused, has none.',
    );
  }
  const receipt: unknown = JSON.parse(found.body);
  return {
    json: { receipt, hash: found.hash },
    text: `${JSON.stringify(receipt, undefined, 2)}\nhash  ${found.hash}`,
  };
}
