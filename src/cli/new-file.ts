// A file that a command creates and that only its owner can read. An existing one is never overwritten.

import { openSync } from 'node:fs';
import { CommandError } from './command.ts';

/** Returns its descriptor. `hint` says what to do where there is such a file. */
export function createFile(path: string, hint: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw exists ? fileExists(path, hint) : fileNotWritable(path);
  }
}

export function fileExists(path: string, hint: string): CommandError {
  return new CommandError('file_exists', `${path} exists already. ${hint}`);
}

export function fileNotWritable(path: string): CommandError {
  return new CommandError(
    'file_not_writable',
    `${path} cannot be written. Check that its directory exists and can be written by this user.`,
  );
}
