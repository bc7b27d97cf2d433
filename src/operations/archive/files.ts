// The directory of archives: where the files of a month are, and whether they are there. Everything
// in it is readable by its owner only.

import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ArchivedMonth } from '../../ledger/archive/anchors.ts';
import { databaseFile } from '../../store/connect.ts';
import { syncFile } from '../../store/sqlite-copy.ts';

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

export type MonthFiles = { readonly receipts: string; readonly books: string };

type Named = Pick<ArchivedMonth, 'accountId' | 'month' | 'receiptsDigest' | 'booksDigest'>;

/**
 * Relative to the directory, as messages name them. Each has a part of its digest: files of another
 * history of the database, or of a node of another version, have other names and stay.
 */
export function fileNames({ accountId, month, receiptsDigest, booksDigest }: Named): MonthFiles {
  const nameOf = (digest: Uint8Array, ending: string): string =>
    join(month, `${accountId}.${digest.toHex().slice(0, DIGEST_DIGITS)}.${ending}`);
  return {
    receipts: nameOf(receiptsDigest, 'receipts.jsonl.gz'),
    books: nameOf(booksDigest, 'books.db'),
  };
}

const DIGEST_DIGITS = 12;

export function monthFiles(directory: string, archive: Named): MonthFiles {
  const { receipts, books } = fileNames(archive);
  return { receipts: join(directory, receipts), books: join(directory, books) };
}

/** Creates the folder of a month. Throws the system's error. */
export function createMonthFolder(directory: string, month: string): void {
  const folder = join(directory, month);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // A name is on disk once its folder is. Also where it is there: a run that was killed may have left
  // it unsynced.
  syncFile(directory);
  if (existsSync(dirname(directory))) syncFile(dirname(directory));
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

/** Removes unfinished files of nodes that were killed: no living node leaves one alone for an hour. */
export function sweepParts(directory: string, nowMs: number): void {
  if (!isFolder(directory)) return;
  for (const month of readdirSync(directory).filter((name) => /^\d{4}-\d\d$/.test(name))) {
    const folder = join(directory, month);
    if (!isFolder(folder)) continue;
    for (const name of readdirSync(folder).filter((each) => each.endsWith(PART))) {
      const path = join(folder, name);
      const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
      if (nowMs - writtenMs > PART_AGE_MS) rmSync(path, { force: true });
    }
  }
}

/** Ends the name of an unfinished file. */
export const PART = '.part';

const PART_AGE_MS = 3_600_000;

/** What is wrong with the files of archives, by their names and sizes alone. */
export function directoryProblems(
  directory: string,
  archives: readonly ArchivedMonth[],
): readonly string[] {
  if (archives.length > 0 && !isFolder(directory)) return [`${directory} is not there`];
  return archives.flatMap(recordedFiles).flatMap(({ name, bytes }) => {
    const size = sizeOf(join(directory, name));
    if (size === undefined) return [`${name} is not there`];
    return size === bytes ? [] : [`${name} has ${size} bytes instead of ${bytes}`];
  });
}

/** How the files of an archive differ from what the books say, read to their ends. */
export async function digestProblems(
  directory: string,
  archive: ArchivedMonth,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { name, sha256 } of recordedFiles(archive)) {
    const found = await digestOf(join(directory, name)).catch(() => undefined);
    if (found === undefined) problems.push(`${name} cannot be read`);
    else if (found.sha256.toHex() !== sha256.toHex()) {
      problems.push(`${name} has another SHA-256 than when it was archived`);
    }
  }
  return problems;
}

function recordedFiles(archive: ArchivedMonth) {
  const { receipts, books } = fileNames(archive);
  return [
    { name: receipts, bytes: archive.receiptsBytes, sha256: archive.receiptsDigest },
    { name: books, bytes: archive.booksBytes, sha256: archive.booksDigest },
  ];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** `undefined` where there is no such file, or none that this process may see. */
export function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
  }
}
