// The secret that signs the cookies of sign-in and seals second factors. It must outlive the server,
// or everybody would be signed out, and locked out of a second factor, by each restart: where no
// SESSION_SECRET is set, one is made up once and kept beside the database, for its owner alone.

import { createHmac } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RandomBytes } from '../../core/id.ts';
import { databaseFile } from '../../store/connect.ts';
import { StoreError } from '../../store/error.ts';

const FILE = 'session-secret';

/** What sign-in works with, derived from the secret so that nothing else of it is ever shared. */
export function signInSecret(options: {
  readonly sessionSecret: string | undefined;
  readonly databaseUrl: string;
  readonly randomBytes: RandomBytes;
}): string {
  const { sessionSecret, databaseUrl, randomBytes } = options;
  const secret = sessionSecret ?? keptSecret(fileBeside(databaseUrl), randomBytes);
  return createHmac('sha256', secret).update('tollgate sign-in').digest('base64url');
}

/** Throws `StoreError` where the database is no file: its nodes have to be told the secret. */
function fileBeside(databaseUrl: string): string {
  const file = databaseFile(databaseUrl);
  if (file !== undefined) return join(dirname(file), FILE);
  throw new StoreError(
    'SESSION_SECRET is not set. With PostgreSQL every node needs the same one, of at least 32 characters.',
  );
}

/** Reads the file, and makes it where there is none. Throws `StoreError`. */
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
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new StoreError(
      `The file ${path} keeps the secret of sign-in and can be read by others. Take their permissions away with chmod 600, then start again.`,
    );
  }
  if (text.length >= 32) return text;
  throw new StoreError(
    `The file ${path} should hold the secret of sign-in, and is too short. Remove it: a new one is made, and everybody signs in again.`,
  );
}

/** `undefined` where another process was faster. */
function makeKept(path: string, randomBytes: RandomBytes): string | undefined {
  const secret = Buffer.from(randomBytes(32)).toString('base64url');
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  }
  try {
    writeSync(file, `${secret}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return secret;
}
