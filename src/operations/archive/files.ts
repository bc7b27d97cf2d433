// The directory of archives: where the files of a month are, whether they are there, and how a file
// gets its name. Everything in it is readable by its owner only.

import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isoTime } from '../../core/calendar.ts';
import type { ArchivedMonth } from '../../ledger/archive/anchors.ts';
import { databaseFile } from '../../store/connect.ts';

/** Where the settings put archives; `undefined` where they need to name it. */
export function archiveDirectory(
  {
    archiveDir,
    databaseUrl,
  }: { readonly archiveDir: string | undefined; readonly databaseUrl: string },
  directory: string,
): string | undefined {
  if (archiveDir !== undefined) return resolve(directory, archiveDir);
  const file = databaseFile(databaseUrl);
  return file === undefined ? undefined : resolve(directory, dirname(file), 'archive');
}

/** An account and a month. */
type Place = { readonly accountId: string; readonly month: string };

export type MonthFiles = { readonly receipts: string; readonly books: string };

/** Relative to the directory, as messages name them. */
export function fileNames({ accountId, month }: Place): MonthFiles {
  return {
    receipts: join(month, `${accountId}.receipts.jsonl.gz`),
    books: join(month, `${accountId}.books.gz`),
  };
}

export function monthFiles(directory: string, place: Place): MonthFiles {
  const { receipts, books } = fileNames(place);
  return { receipts: join(directory, receipts), books: join(directory, books) };
}

/** Creates the folder of a month. Throws the system's error. */
export function createMonthFolder(directory: string, month: string): void {
  const folder = join(directory, month);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Also where it is there: a run that was killed may have left it unsynced.
  syncFolder(directory);
  if (existsSync(dirname(directory))) syncFolder(dirname(directory));
}

/** A name is on disk once its folder is. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export type FileDigest = { readonly bytes: number; readonly sha256: Uint8Array };

/** Rejects where the file cannot be read. */
export async function digestOf(path: string): Promise<FileDigest> {
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    digest.update(chunk);
    bytes += (chunk as Uint8Array).length;
  }
  return { bytes, sha256: digest.digest() };
}

/**
 * Gives a finished file its name. A file of that name is from a run that crashed before it was
 * recorded, or from a database that is older than the archive: an equal one stays, any other is
 * renamed and never overwritten. Returns the new name of that one.
 */
export async function placeFile(
  part: string,
  path: string,
  nowMs: number,
): Promise<string | undefined> {
  let aside: string | undefined;
  if (existsSync(path)) {
    const [old, own] = await Promise.all([digestOf(path), digestOf(part)]);
    if (old.sha256.toHex() === own.sha256.toHex()) {
      rmSync(part);
      return undefined;
    }
    aside = `${path}.before-${isoTime(nowMs).replaceAll(':', '')}`;
    renameSync(path, aside);
  }
  renameSync(part, path);
  return aside;
}

/** What is wrong with the files of archives, by their names and sizes alone. */
export function directoryProblems(
  directory: string,
  archives: readonly ArchivedMonth[],
): readonly string[] {
  if (archives.length > 0 && !isFolder(directory)) return [`${directory} is not there`];
  const problems: string[] = [];
  for (const archive of archives) {
    const names = fileNames(archive);
    for (const [name, bytes] of [
      [names.receipts, archive.receiptsBytes],
      [names.books, archive.booksBytes],
    ] as const) {
      const size = sizeOf(join(directory, name));
      if (size === undefined) problems.push(`${name} is not there`);
      else if (size !== bytes) problems.push(`${name} has ${size} bytes instead of ${bytes}`);
    }
  }
  return problems;
}

/** The archives whose files differ from what the books say, read to their ends. */
export async function digestProblems(
  directory: string,
  archive: ArchivedMonth,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const names = fileNames(archive);
  for (const [name, sha256] of [
    [names.receipts, archive.receiptsDigest],
    [names.books, archive.booksDigest],
  ] as const) {
    const found = await digestOf(join(directory, name)).catch(() => undefined);
    if (found === undefined) problems.push(`${name} cannot be read`);
    else if (found.sha256.toHex() !== sha256.toHex()) {
      problems.push(`${name} has another SHA-256 than when it was archived`);
    }
  }
  return problems;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
  }
}
