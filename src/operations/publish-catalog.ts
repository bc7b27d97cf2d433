// Replaces the catalog file in one step, with a backup beside it, and publishes it to the nodes of a
// cluster. The server applies it like any other change of the file.

import { hash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { catalogDigest } from '../catalog/live.ts';
import { readSharedCatalog } from '../catalog/notes.ts';
import type { FoundCatalog } from '../catalog/source.ts';
import { type Sentence, say, wordsOf } from '../core/sentence.ts';
import { type AuditAction, auditChange, type Change } from '../identity/audit.ts';
import { syncFile } from '../store/sqlite-copy.ts';
import { publishCatalog } from './catalog.ts';
import { OperationError } from './error.ts';

/** A checked text, and the digest of the file that it was made from. */
export type PreparedText = { readonly basedOn: string; readonly text: string };

/** Why the catalog cannot be written; `undefined` where it can. */
export function whyNotWritable({ origin, path }: FoundCatalog): Sentence | undefined {
  if (origin === 'built-in' || path === undefined) {
    return say(
      'The built-in demonstration catalog serves, and it has no file. Write a catalog.toml of your own first.',
    );
  }
  try {
    const file = realpathSync(path);
    accessSync(file, constants.W_OK);
    accessSync(dirname(file), constants.W_OK);
    return undefined;
  } catch {
    return say(
      'The server may not write {path} or its folder. Copy the text into the file by hand.',
      { path },
    );
  }
}

const BACKUP = /\.\d{8}T\d{6}Z-[0-9a-f]{8}\.bak$/;

/** What the last publication replaced; `undefined` where there is no backup of one. */
export function previousText({ path }: FoundCatalog): string | undefined {
  if (path === undefined) return undefined;
  try {
    const file = realpathSync(path);
    const name = basename(file);
    const backups = readdirSync(dirname(file)).filter(
      (each) => each.startsWith(name) && BACKUP.test(each.slice(name.length)),
    );
    const newest = backups.sort().at(-1);
    return newest && readFileSync(join(dirname(file), newest), 'utf8');
  } catch {
    return undefined;
  }
}

export type Published = {
  readonly path: string;
  /** The previous file. */
  readonly backup: string;
  readonly digest: string;
};

/**
 * Writes the file, and publishes it to the nodes of a cluster. Throws `catalog_not_writable`, and
 * `catalog_changed` where the file is not the one that the text was made from, or not the nodes'
 * catalog; then nothing is changed.
 */
export async function publishText(
  change: Change,
  found: FoundCatalog,
  prepared: PreparedText,
  event: {
    readonly action: AuditAction;
    readonly subject: string;
    readonly detail: Readonly<Record<string, string | number>>;
  },
): Promise<Published> {
  const refused = whyNotWritable(found);
  if (refused !== undefined || found.path === undefined) {
    throw new OperationError(
      'catalog_not_writable',
      refused === undefined ? 'There is no catalog file.' : wordsOf(refused),
    );
  }
  if (catalogDigest(found.text) !== prepared.basedOn) {
    throw hasChanged();
  }
  const file = realpathSync(found.path);
  const digest = catalogDigest(prepared.text);
  const stamp = new Date(change.clock()).toISOString().replace(/[-:]|\.\d+/g, '');
  const backup = `${file}.${stamp}-${hash('sha256', found.text, 'hex').slice(0, 8)}.bak`;
  const next = join(dirname(file), `.${basename(file)}.${digest.slice(0, 12)}.tmp`);
  const mode = statSync(file).mode & 0o777;
  let isOurs = false;
  let isWritten = false;
  try {
    await change.database.transaction(async () => {
      // The file may have changed during the wait for the transaction.
      if (readFileSync(file, 'utf8') !== found.text) throw hasChanged();
      const shared = await readSharedCatalog(change.database);
      if (shared !== undefined && shared.digest !== prepared.basedOn) throw isNotShared();
      isOurs = true;
      writeDurably(backup, found.text, mode);
      writeDurably(next, prepared.text, mode);
      await auditChange(change, event.action, event.subject, { ...event.detail, digest });
      if (shared !== undefined) await publishCatalog(change, prepared.text);
      renameSync(next, file);
      isWritten = true;
      syncFile(dirname(file));
    });
  } catch (error) {
    // The file and its event are written together or not at all.
    if (isWritten) putBack(backup, file);
    else if (isOurs) for (const path of [backup, next]) rmSync(path, { force: true });
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw new OperationError(
      'catalog_not_writable',
      `The catalog could not be written (${String(error.code)}), and nothing was changed. Copy the text into the file by hand.`,
    );
  }
  return { path: file, backup, digest };
}

function putBack(backup: string, file: string): void {
  renameSync(backup, file);
  try {
    syncFile(dirname(file));
  } catch {
    // The error that led here is the one to report.
  }
}

function hasChanged(): OperationError {
  return new OperationError(
    'catalog_changed',
    'The catalog file has changed since you opened it. Review the change again, then publish.',
  );
}

function isNotShared(): OperationError {
  return new OperationError(
    'catalog_changed',
    'The nodes use another catalog than this file. Publish on the node that has it, or make this file the catalog of all nodes with tollgate catalog reload first.',
  );
}

function writeDurably(path: string, text: string, mode: number): void {
  const file = openSync(path, 'w', mode);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  // The process's umask may have removed permissions.
  chmodSync(path, mode);
}
