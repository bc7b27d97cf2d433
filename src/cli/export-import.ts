// `tollgate export FILE` and `tollgate import FILE`: move an installation between databases, such
// as from SQLite to PostgreSQL or back. Both require that no server runs on the database: an export
// would miss later changes, and an import must be the only writer.

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { sql } from 'drizzle-orm';
import { createNodes, EVICT_MS } from '../cluster/nodes.ts';
import { errorCodeOf } from '../core/message-of.ts';
import type { LedgerFacts } from '../ledger/facts.ts';
import { digestOf } from '../operations/archive/files.ts';
import type { Imported, Moved } from '../operations/export-import.ts';
import { databaseFile } from '../store/connect.ts';
import type { Database } from '../store/contract.ts';
import { openDatabase } from '../store/database.ts';
import { migrate, migrationStatus } from '../store/migrate.ts';
import { ownDatabase } from '../store/owner.ts';
import { openPostgres } from '../store/postgres/database.ts';
import { WRITING } from '../store/postgres/locks.ts';
import { addCommand, CommandError, type Output, type Perform, table } from './command.ts';
import type { Context } from './context.ts';
import { fileExists, fileNotWritable } from './new-file.ts';

/** A sum over all books is one statement. */
const STATEMENT_MS = 600_000;

/** Blocks commands, and another import, for the length of the transaction. */
const ONE_BY_ONE = sql`select pg_advisory_xact_lock(${sql.raw(WRITING)})`;

/** Not loaded by other commands. */
const loadMoves = () => import('../operations/export-import.ts');

export function addMovingCommands(program: Command, perform: Perform): void {
  perform(
    addCommand(program, 'export <file>', 'write everything that the database holds to a new file'),
    exportTo,
  );
  perform(
    addCommand(program, 'import <file>', 'fill an empty database with what an export has written'),
    importFrom,
  );
}

async function exportTo(context: Context, _options: object, file = ''): Promise<Output> {
  const path = resolve(context.directory, file);
  const { exportInstallation } = await loadMoves();
  return withDatabase(context, async (database) => {
    await refuseOutdated(database);
    const exporting = exportInstallation(database, path, () => keepNodesOut(database));
    const moved = await exporting.catch(fileFailure(path));
    return exportOutput(await movedFile(path), moved, context);
  });
}

/** Equal digests prove that the file was copied as it is. */
type MovedFile = { readonly file: string; readonly sha256: string };

async function movedFile(file: string): Promise<MovedFile> {
  return { file, sha256: (await digestOf(file)).sha256.toHex() };
}

function exportOutput(file: MovedFile, { tables, ledger }: Moved, context: Context): Output {
  const rows = sum(tables);
  return {
    json: { export: { ...file, rows, tables, ledger } },
    text: [
      `Wrote ${rows} rows of ${Object.keys(tables).length} tables to ${file.file}, SHA-256 ${file.sha256}.`,
      factTable(['EXPORTED'], [ledger]),
      'The file contains everything in the database: mail addresses, books, digests of keys and passwords.',
      'Only its owner can read it. Move it as carefully as the database itself.',
      ...secretHint(context),
    ].join('\n'),
    exitCode: isWhole(ledger) ? 0 : 1,
  };
}

async function importFrom(context: Context, _options: object, file = ''): Promise<Output> {
  const path = resolve(context.directory, file);
  const { importInstallation, openExport } = await loadMoves();
  const exported = await openExport(path);
  return withDatabase(context, async (database) => {
    // Migrates a new database; refuses one that is not empty, because it was probably named by
    // mistake.
    const { applied } = await migrationStatus(database);
    if (applied.length > 0) await refuseOutdated(database);
    await migrate(database);
    const guard = async (): Promise<void> => {
      await keepNodesOut(database);
      if (database.isolation === 'row locks') await database.rows(ONE_BY_ONE);
    };
    const imported = await importInstallation(database, exported, guard, context.clock());
    return importOutput(await movedFile(path), imported);
  }).finally(exported.close);
}

function importOutput(file: MovedFile, { tables, ledger, exported }: Imported): Output {
  const rows = sum(tables);
  return {
    json: { import: { ...file, rows, tables, exported, ledger } },
    text: [
      `Read ${rows} rows of ${Object.keys(tables).length} tables from ${file.file}, SHA-256 ${file.sha256}.`,
      factTable(['EXPORTED', 'IMPORTED'], [exported, ledger]),
      isWhole(ledger)
        ? 'The books are whole, and the same on both sides.'
        : 'The books are the same on both sides. They had differences before the export; tollgate doctor lists them.',
    ].join('\n'),
    exitCode: isWhole(ledger) ? 0 : 1,
  };
}

/** Opens the database; on SQLite, no server can start on it until it is closed. */
async function withDatabase(
  context: Context,
  work: (database: Database) => Promise<Output>,
): Promise<Output> {
  const { databaseUrl: url, ledgerSync: sync } = context.config();
  const isFile = databaseFile(url) !== undefined;
  const database = isFile
    ? openDatabase({ url, sync })
    : openPostgres({ url, statementTimeoutMs: STATEMENT_MS });
  try {
    const release = isFile ? ownDatabase(url) : () => undefined;
    try {
      return await work(database);
    } finally {
      release();
    }
  } finally {
    await database.close();
  }
}

async function refuseOutdated(database: Database): Promise<void> {
  const { pending } = await migrationStatus(database);
  if (pending.length === 0) return;
  throw new CommandError(
    'database_outdated',
    `The database is of an earlier version (${pending.length} migrations to apply). Run tollgate migrate first.`,
  );
}

/**
 * No node can register before the transaction has ended. On SQLite this process has the lock, so
 * the nodes in the table are dead.
 */
async function keepNodesOut(database: Database): Promise<void> {
  if (database.isolation === 'one writer') return;
  // A snapshot begins after the lock, and so sees all writes of a node that has just left.
  await database.rows(sql`lock table nodes in share mode`);
  const rows = await createNodes(database).list();
  const live = rows.filter(({ deadAt, silentMs }) => deadAt === null && silentMs < EVICT_MS);
  if (live.length === 0) return;
  const names = live.map(({ node, host }) => `${node} on ${host}`).join(', ');
  throw new CommandError(
    'database_served',
    `The database is served by ${names}. Stop every node first; tollgate nodes lists them.`,
  );
}

const isWhole = (ledger: LedgerFacts): boolean => ledger['differences'] === '0';

const sum = (tables: Readonly<Record<string, number>>): number =>
  Object.values(tables).reduce((total, rows) => total + rows, 0);

function factTable(header: readonly string[], sides: readonly LedgerFacts[]): string {
  const names = Object.keys(sides[0] ?? {});
  const rows = names.map((name) => [name, ...sides.map((side) => side[name] ?? '-')]);
  return table(['BOOKS', ...header], rows);
}

/** Without the secret, its sealed data cannot be opened. */
function secretHint({ config }: Context): string[] {
  const { databaseUrl, sessionSecret } = config();
  const file = databaseFile(databaseUrl);
  if (sessionSecret !== undefined || file === undefined) return [];
  const path = join(dirname(file), 'session-secret');
  if (!existsSync(path)) return [];
  return [
    `Second factors are sealed by ${path}: set SESSION_SECRET of the new installation to its content.`,
  ];
}

/** Messages for a file that cannot be written. */
function fileFailure(path: string): (error: unknown) => never {
  return (error) => {
    const code = errorCodeOf(error);
    if (code === 'EEXIST') {
      throw fileExists(path, 'An export never overwrites a file; give another name.');
    }
    if (code === 'ENOSPC' || code === 'SQLITE_FULL') {
      throw new CommandError(
        'file_not_writable',
        `${path} could not be finished, because its disk is full. It was removed.`,
      );
    }
    if (typeof code === 'string' && FILE_CODES.has(code)) throw fileNotWritable(path);
    throw error;
  };
}

const FILE_CODES: ReadonlySet<string> = new Set([
  'ENOENT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EISDIR',
]);
