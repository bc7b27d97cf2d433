// `tollgate archive`: lists the months whose requests are in archive files, verifies the files, and
// restores them into the books. Works beside a running server.

import type { Command } from 'commander';
import { createRest } from '../async/rest.ts';
import { DAY_MS, isoTime } from '../core/calendar.ts';
import { formatTokens } from '../core/money.ts';
import {
  type ArchivedMonth,
  archivesOfRequest,
  listArchives,
  monthSpan,
} from '../ledger/archive/anchors.ts';
import { archiveDirectory, fileNames } from '../operations/archive/files.ts';
import type { Store } from '../operations/store.ts';
import { addCommand, addGroup, CommandError, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { listOutput, shortInstant } from './list-output.ts';
import { readSpan } from './period.ts';

/** Of one core: an operator waits for the command, and the server may run beside it. */
const SHARE = 0.5;

export function addArchiveCommands(program: Command, perform: Perform): void {
  const archive = addGroup(program, 'archive', 'list, check and restore archived requests');
  const addScoped = (name: string, about: string): Command =>
    addCommand(archive, name, about)
      .option('--account <account>', 'of this account only')
      .option('--month <month>', 'of a month such as 2026-10');
  perform<Scope>(addScoped('list', 'list the months whose requests are in files'), list);
  perform<Scope>(addScoped('verify', 'check the files against the books'), verify);
  perform(
    addCommand(archive, 'find <request>', 'name the file that has an archived request'),
    find,
  );
  perform<RestoreScope>(
    addCommand(archive, 'restore', 'write archived requests back into the database')
      .requiredOption('--month <month>', 'this month, and every later one that is archived')
      .option('--account <account>', 'of this account only'),
    restore,
  );
}

type Scope = { readonly account?: string; readonly month?: string };

type RestoreScope = Scope & { readonly month: string };

async function archivesOf(
  { database, accounts }: Store,
  { account, month }: Scope,
): Promise<readonly ArchivedMonth[]> {
  if (month !== undefined) readSpan({ month });
  const accountId = account === undefined ? undefined : (await accounts.find(account)).id;
  const archives = await listArchives(database.db, accountId);
  return month === undefined ? archives : archives.filter((each) => each.month === month);
}

function archiveRecord(archive: ArchivedMonth) {
  const { receipts, books } = fileNames(archive);
  return {
    month: archive.month,
    account_id: archive.accountId,
    state: archive.state,
    first: archive.firstSequence,
    last: archive.lastSequence,
    requests: archive.requests,
    movements: archive.movements,
    opening_balance: formatTokens(archive.opening),
    credited: formatTokens(archive.credited),
    debited: formatTokens(archive.debited),
    loss: formatTokens(archive.loss),
    closing_balance: formatTokens(archive.closing),
    archived_at: isoTime(archive.archivedAt),
    receipts: { file: receipts, bytes: archive.receiptsBytes },
    books: { file: books, bytes: archive.booksBytes },
    head: archive.head.toHex(),
    anchor: archive.hash.toHex(),
  } as const;
}

async function list(context: Context, scope: Scope): Promise<Output> {
  const records = (await archivesOf(await context.openStore(), scope)).map(archiveRecord);
  const header = ['MONTH', 'ACCOUNT', 'REQUESTS', 'CLOSING BALANCE', 'ARCHIVED', 'STATE', 'BYTES'];
  return listOutput(records, header, (record) => [
    record.month,
    record.account_id,
    String(record.requests),
    record.closing_balance,
    shortInstant(record.archived_at),
    record.state,
    String(record.receipts.bytes + record.books.bytes),
  ]);
}

async function verify(context: Context, scope: Scope): Promise<Output> {
  const archives = await archivesOf(await context.openStore(), scope);
  const directory = archives.length === 0 ? null : directoryOf(context);
  const { archiveProblems } = await loadFiles();
  const checked: { readonly archive: ArchivedMonth; readonly problems: readonly string[] }[] = [];
  for (const archive of archives) {
    checked.push({ archive, problems: await archiveProblems(directory ?? '', archive) });
  }
  const ok = checked.every(({ problems }) => problems.length === 0);
  return {
    json: {
      ok,
      directory,
      checked: checked.map(({ archive, problems }) => ({ ...archiveRecord(archive), problems })),
    },
    text: [
      ...checked.map(({ archive: { month, accountId, requests }, problems }) =>
        [
          `${problems.length === 0 ? 'ok   ' : 'WRONG'}  ${month} ${accountId}: ${requests} requests`,
          ...problems.map((problem) => `  ${problem}`),
        ].join('\n'),
      ),
      directory === null ? 'Nothing is archived.' : `${checked.length} archives in ${directory}`,
    ].join('\n'),
    exitCode: ok ? 0 : 1,
  };
}

async function find(context: Context, _options: object, request = ''): Promise<Output> {
  const { database } = await context.openStore();
  const found = (await archivesOfRequest(database.db, request)).map(archiveRecord);
  if (found.length === 0) {
    throw new CommandError('archive_not_found', 'No archive has a request with this id.');
  }
  return {
    json: { object: 'list', data: found },
    text: found
      .map(({ books, archived_at }) => `${books.file}, archived ${shortInstant(archived_at)}`)
      .join('\n'),
  };
}

async function restore(context: Context, { month, account }: RestoreScope): Promise<Output> {
  readSpan({ month });
  const directory = directoryOf(context);
  const { database, accounts } = await context.openStore();
  refuseRepetition(context, month);
  const accountId = account === undefined ? undefined : (await accounts.find(account)).id;
  const rest = createRest(SHARE);
  const { archivesToRestore, restoreMonth } = await loadFiles();
  const restored: ArchivedMonth[] = [];
  for (const archive of await archivesToRestore(database, { month, accountId })) {
    await restoreMonth(database, directory, archive, rest);
    restored.push(archive);
  }
  const requests = restored.reduce((sum, archive) => sum + archive.requests, 0);
  return {
    json: { restored: restored.map(archiveRecord), requests },
    text: `Restored ${requests} requests of ${restored.length} months of accounts. The files stay in ${directory}.`,
  };
}

/** The server would archive the month again at once. */
function refuseRepetition({ config, clock }: Context, month: string): void {
  const { retentionDays } = config();
  if (retentionDays === 'off') return;
  const days = Math.floor((clock() - monthSpan(month).untilMs) / DAY_MS);
  if (days < retentionDays) return;
  throw new CommandError(
    'retention_too_short',
    `RETENTION_DAYS=${retentionDays} would archive ${month} again at once. Set it to at least ${days + 2} or to off, restart the server, and repeat the command.`,
  );
}

/** On demand: other commands start faster without it. */
const loadFiles = () => import('../operations/archive/restore.ts');

function directoryOf({ config, directory }: Context): string {
  const found = archiveDirectory(config(), directory);
  if (found !== undefined) return found;
  throw new CommandError('archive_dir_missing', 'Set ARCHIVE_DIR to the folder of the archives.');
}
