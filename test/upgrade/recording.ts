// Recorded books: the database of an executable that was killed under traffic, and what it must hold.
// One folder a released version in test/upgrade/books, written by scripts/record-books.

import { Database as Connection } from 'bun:sqlite';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../../scripts/release-steps/tool.ts';
import type { Dialect } from '../../src/store/contract.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { findPostgres } from '../support/postgres-server.ts';
import { sharedPostgres } from '../support/services.ts';
import { startUpstream } from '../support/upstream.ts';
import { type Facts, makeTraffic, SECRET, upgradeCatalog } from './traffic.ts';

export type Recording = {
  /** As `--version` prints it. */
  readonly version: string;
  readonly facts: Facts;
  /** The file of SQLite, or what `pg_dump` writes. */
  readonly database: Uint8Array;
};

/** A database that an executable may be started on. */
export type Place = {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
};

const BOOKS = join(import.meta.dir, 'books');
const FILES = { sqlite: 'sqlite.db.zst', postgres: 'postgres.sql.zst' } as const;

/** Runs `binary` under traffic on an empty database in `directory`, kills it, and reads its books. */
export async function record(
  binary: string,
  dialect: Dialect,
  directory: string,
): Promise<Recording> {
  const version = (await runTool([binary, '--version'])).trim();
  const place = await emptyPlace(dialect, directory);
  await using upstream = await startUpstream();
  const gateway = await startGateway({ binary, catalog: upgradeCatalog(upstream), ...place });
  const facts = await makeTraffic(gateway);
  await gateway.kill();
  return { version, facts, database: await dump(dialect, gateway) };
}

async function emptyPlace(dialect: Dialect, directory: string): Promise<Place> {
  mkdirSync(join(directory, 'data'), { recursive: true });
  const secret = { SESSION_SECRET: SECRET, OPERATOR_PORT: '0' };
  if (dialect === 'sqlite') return { directory, environment: secret };
  const server = await sharedPostgres();
  return { directory, environment: { ...secret, DATABASE_URL: await server.createDatabase() } };
}

async function dump(dialect: Dialect, { databasePath, environment }: Gateway): Promise<Uint8Array> {
  if (dialect === 'postgres') {
    const url = environment['DATABASE_URL'] ?? '';
    const options = ['--no-owner', '--no-privileges', '--dbname', url];
    return new TextEncoder().encode(await runTool([postgresTool('pg_dump'), ...options]));
  }
  using connection = new Connection(databasePath);
  connection.run('PRAGMA wal_checkpoint(TRUNCATE)');
  return connection.serialize();
}

/** Puts a recorded database where an executable finds it. */
export async function restore(
  { database }: Recording,
  dialect: Dialect,
  directory: string,
): Promise<Place> {
  const place = await emptyPlace(dialect, directory);
  if (dialect === 'sqlite') {
    await Bun.write(join(directory, 'data/tollgate.db'), database);
    return place;
  }
  const file = join(directory, 'dump.sql');
  await Bun.write(file, database);
  const url = place.environment['DATABASE_URL'] ?? '';
  await runTool([postgresTool('psql'), '--quiet', '--no-psqlrc', '--dbname', url, '--file', file]);
  return place;
}

function postgresTool(name: string): string {
  return join(findPostgres() ?? '', name);
}

/** The names of the folders, such as `1.0.0`. */
export function recordedVersions(): readonly string[] {
  return existsSync(BOOKS) ? readdirSync(BOOKS).toSorted() : [];
}

export const recordingFolder = (version: string): string => join(BOOKS, version);

export async function writeRecording(dialect: Dialect, recording: Recording): Promise<string> {
  const { version, facts, database } = recording;
  const folder = recordingFolder(version.split('+')[0] ?? version);
  await Bun.write(join(folder, FILES[dialect]), Bun.zstdCompressSync(database, { level: 19 }));
  const text = `${JSON.stringify({ version, facts }, null, 2)}\n`;
  await Bun.write(join(folder, `${dialect}.json`), text);
  return folder;
}

export async function readRecording(name: string, dialect: Dialect): Promise<Recording> {
  const folder = recordingFolder(name);
  const known: Pick<Recording, 'version' | 'facts'> = await Bun.file(
    join(folder, `${dialect}.json`),
  ).json();
  const bytes = await Bun.file(join(folder, FILES[dialect])).bytes();
  return { ...known, database: Bun.zstdDecompressSync(bytes) };
}
