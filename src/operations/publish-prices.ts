// Merges a draft of prices into the catalog file: checks the result like any catalog, and replaces
// the file in one step, with a backup beside it. The server applies it like any other change of the
// file; prices have no other source.

import { hash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { catalogDigest, type LoadedCatalog, loadFound } from '../catalog/live.ts';
import { readSharedCatalog } from '../catalog/notes.ts';
import { draftedText, draftSnippet, type PriceDraft } from '../catalog/price-draft.ts';
import type { FoundCatalog } from '../catalog/source.ts';
import { parseInstant } from '../core/instant.ts';
import type { Catalog } from '../core/model.ts';
import { auditChange, type Change } from './audited-change.ts';
import { publishCatalog } from './catalog.ts';
import { OperationError } from './error.ts';

type PreparedPrices = {
  /** Identifies the current file, so that `publishPrices` detects a change. */
  readonly basedOn: string;
  /** The catalog with the draft in it. */
  readonly catalog: Catalog;
  readonly text: string;
  /** Only the drafted prices, for editing by hand. */
  readonly snippet: string;
};

/** Writes nothing. Throws `CatalogError` and `not_editable`. */
export function preparePrices(
  found: FoundCatalog,
  draft: PriceDraft,
  nowMs: number,
): PreparedPrices {
  const before: LoadedCatalog = loadFound(found, nowMs);
  const slugOf = (name: string) => before.catalog.resolve(name)?.slug;
  const drafted = draftedText(found.text, draft, slugOf, nowMs);
  if ('notEditable' in drafted) throw new OperationError('not_editable', drafted.notEditable);
  const { text } = drafted;
  const { catalog } = loadFound({ ...found, text }, nowMs);
  return { basedOn: before.digest, catalog, text, snippet: draftSnippet(draft) };
}

/** A summary of the draft, for the audit trail. */
export function draftSummary({ add = [], withdraw = [] }: PriceDraft) {
  const models = [...add, ...withdraw].map(({ model }) => model);
  return { added: add.length, withdrawn: withdraw.length, models: [...new Set(models)].join(', ') };
}

/** When the last of the drafted prices begins; `undefined` where none does. */
export function lastStart({ add = [] }: PriceDraft): number | undefined {
  const starts = add.flatMap(({ valid_from }) => parseInstant(valid_from) ?? []);
  return starts.length === 0 ? undefined : Math.max(...starts);
}

/** Why the catalog cannot be written; `undefined` where it can. */
export function whyNotWritable({ origin, path }: FoundCatalog): string | undefined {
  if (origin === 'built-in' || path === undefined) {
    return 'The built-in demonstration catalog serves, and it has no file. Write a catalog.toml of your own first.';
  }
  try {
    const file = realpathSync(path);
    accessSync(file, constants.W_OK);
    accessSync(dirname(file), constants.W_OK);
    return undefined;
  } catch {
    return `The server may not write ${path} or its folder. Copy the text into the file by hand.`;
  }
}

type Published = {
  readonly path: string;
  /** The previous file. */
  readonly backup: string;
  readonly digest: string;
};

/**
 * Writes the file, and publishes it to the nodes of a cluster. Throws `catalog_not_writable`, and
 * `catalog_changed` where the file is not the one that the draft was prepared on, or not the nodes'
 * catalog; then nothing is changed.
 */
export async function publishPrices(
  change: Change,
  found: FoundCatalog,
  prepared: PreparedPrices,
  summary: Readonly<Record<string, string | number>>,
): Promise<Published> {
  const refused = whyNotWritable(found);
  if (refused !== undefined || found.path === undefined) {
    throw new OperationError('catalog_not_writable', refused ?? 'There is no catalog file.');
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
      await auditChange(change, 'prices.published', 'catalog', { ...summary, digest });
      if (shared !== undefined) await publishCatalog(change, prepared.text);
      renameSync(next, file);
      isWritten = true;
    });
  } catch (error) {
    // The file and its event are written together or not at all.
    if (isWritten) renameSync(backup, file);
    else if (isOurs) for (const path of [backup, next]) rmSync(path, { force: true });
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw new OperationError(
      'catalog_not_writable',
      `The catalog could not be written (${String(error.code)}), and nothing was changed. Copy the text into the file by hand.`,
    );
  }
  return { path: file, backup, digest };
}

function hasChanged(): OperationError {
  return new OperationError(
    'catalog_changed',
    'The catalog file has changed since the draft was previewed. Preview it again, then publish.',
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
