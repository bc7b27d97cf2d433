// Detects failures caused by a full disk. SQLite has several errors for it, and those of the
// ledger's thread arrive as plain text; an operator needs one sentence. Called when a command has
// failed.

import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCodeOf } from '../core/message-of.ts';
import { isSqliteUrl } from './connect.ts';
import { databasePath } from './database.ts';
import { StoreError } from './error.ts';

/** SQLite needs at least this much to grow its log or its index. */
const FREE_BYTES_MIN = 65_536;

/** Replaces `error`; `undefined` where the disk has space, or the database is not a file. */
export function fullDiskError(error: unknown, url: string): StoreError | undefined {
  if (!isSqliteUrl(url)) return undefined;
  const path = databasePath(url);
  const causes = causesOf(error);
  if (!causes.some(saysFull) && !(causes.some(mayBeFull) && freeBytes(path) < FREE_BYTES_MIN)) {
    return undefined;
  }
  return new StoreError(
    `There is no space left on the device of ${path}, so the database cannot be written. Free some and start again.`,
    { cause: error },
  );
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 8; cause = cause.cause) {
    causes.push(cause);
  }
  return causes;
}

function saysFull(error: Error): boolean {
  return (
    /^(SQLITE_FULL|ENOSPC|EDQUOT)$/.test(errorCodeOf(error)) ||
    /disk is full|no space left on device/i.test(error.message)
  );
}

function mayBeFull(error: Error): boolean {
  return /^SQLITE_(IOERR|CANTOPEN)/.test(errorCodeOf(error)) || error instanceof StoreError;
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(existsSync(path) ? path : dirname(path));
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
