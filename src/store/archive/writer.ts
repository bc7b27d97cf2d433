// Writes compressed files with bounded memory: exports, and archives of months. A file is new and
// readable by its owner only; an incomplete one is removed.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, closeSync, createWriteStream, openSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { syncFile } from '../sqlite-copy.ts';
import {
  endLine,
  headerLine,
  type LedgerFacts,
  type Row,
  rowLine,
  type TableShape,
  tableEndLine,
  tableLine,
} from './format.ts';

export type ArchiveSource<Table extends TableShape = TableShape> = {
  readonly madeBy: string;
  /** As an ISO time. */
  readonly madeAt: string;
  readonly tables: readonly Table[];
  readonly rowsOf: (table: Table) => AsyncIterable<readonly Row[]>;
  readonly ledger: LedgerFacts;
};

/** Higher levels hardly shrink digests. */
const COMPRESSION_LEVEL = 6;

/** Creates the file and returns the number of rows per table. Throws the system's error. */
export async function writeArchive<Table extends TableShape>(
  path: string,
  source: ArchiveSource<Table>,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  await writePacked(path, pieces(source, counts));
  return counts;
}

/** Writes a text into a new compressed file, which is on disk afterwards. */
export async function writePacked(path: string, text: AsyncIterable<string>): Promise<void> {
  createFile(path);
  try {
    await pack(text, path);
    // Success is reported only once the file survives a power cut.
    syncFile(path);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * The calling task requests the pieces one after the other: its reads belong to a transaction,
 * which a stream that pulls by itself would be outside of.
 */
async function pack(text: AsyncIterable<string>, path: string): Promise<void> {
  const packer = createGzip({ level: COMPRESSION_LEVEL });
  // Opens the file later, and must not recreate it where it was removed after a failure.
  const written = pipeline(packer, createWriteStream(path, { flags: 'r+' }));
  written.catch(() => undefined);
  try {
    for await (const piece of text) {
      // A full disk ends the wait, too.
      if (!packer.write(piece)) await Promise.race([once(packer, 'drain'), written]);
    }
    packer.end();
  } catch (error) {
    packer.destroy();
    throw error;
  }
  await written;
}

function createFile(path: string): void {
  closeSync(openSync(path, 'wx', 0o600));
  // Regardless of the user's umask.
  chmodSync(path, 0o600);
}

/** The text of the file; a piece is some rows. */
async function* pieces<Table extends TableShape>(
  source: ArchiveSource<Table>,
  counts: Map<string, number>,
): AsyncGenerator<string> {
  const whole = createHash('sha256');
  const counted = (...lines: readonly string[]): string => {
    const text = lines.map((line) => `${line}\n`).join('');
    whole.update(text);
    return text;
  };
  yield counted(headerLine(source.madeBy, source.madeAt, source.tables));
  let total = 0;
  for (const table of source.tables) {
    const digest = createHash('sha256');
    let count = 0;
    yield counted(tableLine(table.name));
    for await (const rows of source.rowsOf(table)) {
      const text = counted(...rows.map(rowLine));
      digest.update(text);
      count += rows.length;
      if (text !== '') yield text;
    }
    counts.set(table.name, count);
    total += count;
    yield counted(tableEndLine(table.name, count, digest.digest('hex')));
  }
  yield `${endLine(total, whole.digest('hex'), source.ledger)}\n`;
}
