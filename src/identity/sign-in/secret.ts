// The secret that keys the digests of sign-in and seals second factors. It must survive a restart,
// which would otherwise end all sessions and lock out users with a second factor. Without
// SESSION_SECRET, a random one is stored beside the database, readable by its owner only.

import { createHmac } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RandomBytes } from '../../core/id.ts';
import { errorCodeOf } from '../../core/message-of.ts';
import { databaseFile } from '../../store/connect.ts';
import { StoreError } from '../../store/error.ts';

const FILE = 'session-secret';

/** A key for sign-in only, derived from SESSION_SECRET, which has other uses. */
export function signInSecret(options: {
  readonly sessionSecret: string | undefined;
  readonly databaseUrl: string;
  readonly randomBytes: RandomBytes;
}): string {
  const { sessionSecret, databaseUrl, randomBytes } = options;
  const secret = sessionSecret ?? keptSecret(fileBeside(databaseUrl), randomBytes);
  return createHmac('sha256', secret).update('tollgate sign-in').digest('base64url');
}

/** Throws `StoreError` on a database server, whose nodes need a shared secret. */
function fileBeside(databaseUrl: string): string {
  const file = databaseFile(databaseUrl);
  if (file !== undefined) return join(dirname(file), FILE);
  throw new StoreError(
    'SESSION_SECRET is not set. With PostgreSQL every node needs the same one, of at least 32 characters.',
  );
}

/** Reads the file, or creates it. Throws `StoreError`. */
function keptSecret(path: string, randomBytes: RandomBytes): string {
  try {
    return readKept(path) ?? makeKept(path, randomBytes) ?? readKept(path) ?? '';
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw new StoreError(
      `The file ${path}, which keeps the secret of sign-in, cannot be read or made. Check its permissions, or set SESSION_SECRET.`,
      { cause },
    );
  }
}

function readKept(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if ((found.mode & 0o077) !== 0) {
    throw new StoreError(
      `The file ${path} keeps the secret of sign-in and can be read by others. Take their permissions away with chmod 600, then start again.`,
    );
  }
  const text = readFileSync(path, 'utf8').trim();
  if (text.length >= 32) return text;
  throw new StoreError(
    `The file ${path} should hold the secret of sign-in, and is too short. Restore it from your backups. If you remove it, a new one is made: all users sign in again, and second factors no longer work.`,
  );
}

/** `undefined` where another process was faster. */
function makeKept(path: string, randomBytes: RandomBytes): string | undefined {
  const secret = Buffer.from(randomBytes(32)).toString('base64url');
  try {
    writeFileSync(path, `${secret}\n`, { flag: 'wx', mode: 0o600, flush: true });
    return secret;
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}
