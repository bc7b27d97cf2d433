// `tollgate receipts`: shows, exports and verifies the receipts of accounts. `verify` with files
// needs neither a database nor settings.

import { closeSync, fsyncSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { formatTokens } from '../core/money.ts';
import { fileNames } from '../operations/archive/files.ts';
import { monthsText } from '../operations/archive/notices.ts';
import type { FileCheck } from '../operations/receipt-file.ts';
import type { VerifiedReceipts } from '../operations/receipts.ts';
import { addCommand, addGroup, CommandError, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { createFile } from './new-file.ts';
import { readSpan, type SpanOptions } from './period.ts';

/** Not loaded by other commands. */
const loadReceipts = () => import('../operations/receipts.ts');

export function addReceiptCommands(program: Command, perform: Perform): void {
  const receipts = addGroup(program, 'receipts', 'export, check and show the receipts of accounts');
  perform<ExportOptions>(
    addCommand(receipts, 'export', 'write the receipts of an account, one JSON document a line')
      .requiredOption('--account <account>', 'whose receipts')
      .option('--month <month>', 'those of a month such as 2026-10 (default: all)')
      .option('--from <time>', 'those from a day or an instant on')
      .option('--to <time>', 'those before a day or an instant')
      .option('--out <file>', 'a new file (default: standard output)'),
    exportToFile,
  );
  perform<VerifyOptions>(
    addCommand(receipts, 'verify [files...]', 'check exported files, or the books themselves')
      .option('--account <account>', 'check the receipts that the books have of this account')
      .option('--all', 'check the receipts that the books have of every account'),
    verify,
  );
  perform(
    addCommand(receipts, 'show <request>', 'show the receipt of a request or of a movement'),
    show,
  );
}

type ExportOptions = SpanOptions & { readonly account: string; readonly out?: string };

async function exportToFile(context: Context, options: ExportOptions): Promise<Output> {
  const span = readSpan(options);
  const { database, accounts } = await context.openStore();
  const { id } = await accounts.find(options.account);
  const { exportReceipts } = await loadReceipts();
  const { slice, pieces, archived } = await exportReceipts(database, id, span);
  if (options.out === undefined) return { json: null, text: '', pieces };
  const file = resolve(context.directory, options.out);
  await writeNewFile(file, pieces);
  const receipts = slice.last - slice.first + 1;
  return {
    json: {
      export: { file, account_id: id, ...slice, receipts },
      archived: archived.map((each) => fileNames(each).receipts),
    },
    text: [
      `Wrote ${receipts} receipts, ${slice.first} to ${slice.last}, to ${file}.`,
      ...(archived.length === 0
        ? []
        : [`Those of ${monthsText(archived)} are archived and not in it: see archive list.`]),
    ].join('\n'),
  };
}

async function writeNewFile(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const descriptor = createFile(path, 'Give another name.');
  try {
    for await (const piece of pieces) writeAll(descriptor, Buffer.from(piece));
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

/** What was verified: a file by its name, or an account of the books. */
type Verified = VerifiedReceipts & { readonly name: string };

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
  const store = await context.openStore();
  const ids =
    account === undefined
      ? (await store.accounts.list()).map(({ id }) => id)
      : [(await store.accounts.find(account)).id];
  const { verifyReceipts } = await loadReceipts();
  const verified: Verified[] = [];
  // One after the other: each reads all receipts of an account.
  for (const id of ids) {
    verified.push({ name: id, ...(await verifyReceipts(store.database, id)) });
  }
  return verifiedOutput(verified);
}

async function verifyFiles(directory: string, files: readonly string[]): Promise<Verified[]> {
  const { checkFile, checkJoints } = await import('../operations/receipt-file.ts');
  const checked: ({ readonly name: string; readonly path: string } & FileCheck)[] = [];
  for (const name of files) {
    const path = resolve(directory, name);
    const found = await checkFile(path).catch(() => {
      throw new CommandError('file_not_readable', `${name} cannot be read.`);
    });
    checked.push({ name, path, ...found });
  }
  const joints = await checkJoints(checked);
  return checked.map((file) => ({
    name: file.name,
    totals: file.totals,
    problems: [...file.problems, ...(joints.get(file) ?? [])].map(({ sequence, kind, detail }) => ({
      of: sequence,
      kind,
      detail,
    })),
  }));
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

/** Problems that are printed as text; JSON contains all that were found. */
const LISTED_PROBLEMS_MAX = 20;

function verifiedText(verified: Verified): string {
  const { name, totals, problems } = verified;
  const { first, last, requests, movements } = totals;
  const record = verifiedRecord(verified);
  const listed = problems
    .slice(0, LISTED_PROBLEMS_MAX)
    .map(({ of, kind, detail }) => `  ${kind}  ${of}  ${detail}`);
  const more = problems.length - listed.length;
  return [
    `${problems.length === 0 ? 'ok   ' : 'WRONG'}  ${name}: receipts ${first} to ${last} of ${record.account_id ?? 'no account'}`,
    `  ${counted(requests, 'request')}, ${counted(movements, 'other movement')}`,
    `  ${record.opening_balance} at first, ${record.credited} credited, ${record.debited} debited, ${record.closing_balance} at last`,
    ...listed,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

async function show(context: Context, _options: object, subject = ''): Promise<Output> {
  const { showReceipt } = await loadReceipts();
  const { receipt, hash } = await showReceipt((await context.openStore()).database, subject);
  return {
    json: { receipt, hash },
    text: `${JSON.stringify(receipt, undefined, 2)}\nhash  ${hash}`,
  };
}
