// Writes compressed files with bounded memory. A file is new and readable by its owner only; an
// incomplete one is removed.

import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createFile, syncFile } from './sqlite-copy.ts';

/** Higher levels hardly shrink digests. */
const COMPRESSION_LEVEL = 6;

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
