// Reads a `tollgate export` file: unpacks it, verifies counts and digests, and yields the rows
// table by table. Memory is bounded for any length. Throws `ArchiveError` for damage; a file is
// verified only once it has been read to its end.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  ArchiveError,
  damaged,
  type LedgerFacts,
  parseLine,
  type Row,
  rowOf,
  type TableShape,
} from './format.ts';

/** Rows per portion: this many, or this much text. */
const ROWS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 1_000_000;

/**
 * The longest rows are anchors of months, which have two bytes a request: this is one with 200
 * million. A line without an end must not fill the memory.
 */
const LINE_CHARACTERS_MAX = 512 * 1_024 * 1_024;

export type Portion =
  | { readonly kind: 'header'; readonly madeBy: string; readonly tables: readonly TableShape[] }
  | { readonly kind: 'rows'; readonly table: string; readonly rows: readonly Row[] }
  | { readonly kind: 'end'; readonly rows: number; readonly ledger: LedgerFacts };

/** Yields the file in portions: a header, rows in the order of the file, an end. */
export async function* readArchive(path: string): AsyncGenerator<Portion> {
  const whole = createHash('sha256');
  let shapes: ReadonlyMap<string, TableShape> | undefined;
  let open: { shape: TableShape; rows: number; digest: ReturnType<typeof createHash> } | undefined;
  let portion: Row[] = [];
  let characters = 0;
  let total = 0;
  let ended = false;
  for await (const text of linesOf(path)) {
    if (ended) throw damaged('something stands behind its end');
    const line = parseLine(text);
    if (shapes === undefined && line.kind !== 'header') {
      throw new ArchiveError('The file was not made by tollgate export.');
    }
    switch (line.kind) {
      case 'header':
        if (shapes !== undefined) throw damaged('it has two headers');
        shapes = new Map(line.tables.map((shape) => [shape.name, shape]));
        yield line;
        break;
      case 'table': {
        const shape = shapes?.get(line.name);
        if (shape === undefined || open !== undefined) throw damaged('its tables are out of order');
        open = { shape, rows: 0, digest: createHash('sha256') };
        break;
      }
      case 'row':
        if (open === undefined) throw damaged('a row belongs to no table');
        open.rows += 1;
        open.digest.update(`${text}\n`);
        portion.push(rowOf(line.cells, open.shape));
        characters += text.length;
        if (portion.length < ROWS_AT_ONCE && characters < CHARACTERS_AT_ONCE) break;
        yield { kind: 'rows', table: open.shape.name, rows: portion };
        portion = [];
        characters = 0;
        break;
      case 'table-end':
        if (open?.shape.name !== line.name) throw damaged('its tables are out of order');
        if (open.rows !== line.rows) throw damaged(`rows of ${line.name} are missing`);
        if (open.digest.digest('hex') !== line.sha256) {
          throw damaged(`rows of ${line.name} were changed`);
        }
        if (portion.length > 0) yield { kind: 'rows', table: line.name, rows: portion };
        portion = [];
        total += open.rows;
        open = undefined;
        break;
      case 'end':
        if (open !== undefined || total !== line.rows) throw damaged('tables are missing');
        if (whole.digest('hex') !== line.sha256) throw damaged('it was changed');
        ended = true;
        yield { kind: 'end', rows: line.rows, ledger: line.ledger };
        break;
    }
    if (!ended) whole.update(`${text}\n`);
  }
  if (!ended) throw damaged('its end is missing');
}

async function* linesOf(path: string): AsyncGenerator<string> {
  /** Of a line that goes on, joined once: joining them for each one would take quadratic time. */
  let pieces: string[] = [];
  let length = 0;
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const unpacked = createGunzip();
    // An error ends the unpacking and is caught where its output is read.
    pipeline(createReadStream(path), unpacked, () => undefined);
    for await (const bytes of unpacked) {
      const [first = '', ...lines] = decoder.decode(bytes, { stream: true }).split('\n');
      pieces.push(first);
      length += first.length;
      if (length > LINE_CHARACTERS_MAX) throw damaged('a line has no end');
      const begun = lines.pop();
      if (begun === undefined) continue;
      const line = pieces.join('');
      pieces = [begun];
      length = begun.length;
      yield line;
      yield* lines;
    }
  } catch (cause) {
    throw cause instanceof ArchiveError ? cause : unreadable(cause);
  }
  if (length > 0) throw damaged('its end is missing');
}

function unreadable(cause: unknown): ArchiveError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOENT') return new ArchiveError('There is no such file.');
  if (code === 'EACCES') return new ArchiveError('The file cannot be read by this user.');
  return damaged('it cannot be unpacked to its end');
}
