// The directory of archives: where the files of a month are, whether they are there, and how a file
// gets its name. Everything in it is readable by its owner only.

import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isoTime } from '../../core/calendar.ts';
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
    aside = freeName(`${path}${ASIDE}${isoTime(nowMs).replaceAll(':', '')}`);
    renameSync(path, aside);
  }
  renameSync(part, path);
  return aside;
}

const ASIDE = '.before-';

function freeName(name: string): string {
  let free = name;
  for (let number = 2; existsSync(free); number += 1) free = `${name}-${number}`;
  return free;
}

/**
 * Gives recorded files their names back. A node of another version that archived the same month at
 * the same time, or a server on an older copy of the database, has moved them aside.
 */
export async function reinstateFiles(
  directory: string,
  archive: ArchivedMonth,
  nowMs: number,
): Promise<void> {
  const files = monthFiles(directory, archive);
  for (const [path, sha256] of [
    [files.receipts, archive.receiptsDigest],
    [files.books, archive.booksDigest],
  ] as const) {
    const isRecorded = async (name: string): Promise<boolean> =>
      (await digestOf(name).catch(() => undefined))?.sha256.toHex() === sha256.toHex();
    const folder = dirname(path);
    if (!isFolder(folder) || (await isRecorded(path))) continue;
    const start = `${basename(path)}${ASIDE}`;
    for (const name of readdirSync(folder).filter((each) => each.startsWith(start))) {
      const aside = join(folder, name);
      if (!(await isRecorded(aside))) continue;
      await placeFile(aside, path, nowMs);
      syncFile(folder);
      break;
    }
  }
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

/** `undefined` where there is no such file, or none that this process may see. */
export function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
  }
}
