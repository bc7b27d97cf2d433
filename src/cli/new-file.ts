// Creates a file that only its owner can read. Never overwrites one.

import { openSync } from 'node:fs';
import { errorCodeOf } from '../core/message-of.ts';
import { CommandError } from './command.ts';

/** Returns its descriptor. `hint` says what to do where the file exists. */
export function createFile(path: string, hint: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw errorCodeOf(error) === 'EEXIST' ? fileExists(path, hint) : fileNotWritable(path);
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
