// The lines of a `tollgate export` file: a header, the tables with their rows, and an end with the
// totals. Only encodes and decodes; `writer.ts` and `reader.ts` do the input and output.
//
//   {"format":"tollgate-archive","version":1,"made_by":"1.0.0","made_at":"…","tables":[…]}
//   {"table":"accounts"}
//   ["acct_1","a@b.c",…]                                one line a row, in the order of the columns
//   {"end":"accounts","rows":1,"sha256":"…"}            of the lines of the rows
//   {"end":"archive","rows":1,"sha256":"…","ledger":{…}}  of every line before it

/** The version of the format; files of other versions are refused. */
export const ARCHIVE_VERSION = 1;

export const ARCHIVE_FORMAT = 'tollgate-archive';

export type ColumnKind = 'integer' | 'text' | 'bytes';

type ColumnShape = { readonly name: string; readonly kind: ColumnKind };

export type TableShape = { readonly name: string; readonly columns: readonly ColumnShape[] };

export type Value = bigint | string | Uint8Array | null;

export type Row = readonly Value[];

/** Sums and digests of the books, which both sides compare. */
export type LedgerFacts = Readonly<Record<string, string>>;

type Line =
  | { readonly kind: 'header'; readonly madeBy: string; readonly tables: readonly TableShape[] }
  | { readonly kind: 'table'; readonly name: string }
  | { readonly kind: 'row'; readonly cells: readonly unknown[] }
  | {
      readonly kind: 'table-end';
      readonly name: string;
      readonly rows: number;
      readonly sha256: string;
    }
  | {
      readonly kind: 'end';
      readonly rows: number;
      readonly sha256: string;
      readonly ledger: LedgerFacts;
    };

/** A damaged file. The message is for operators and contains none of its data. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

export function headerLine(madeBy: string, madeAt: string, tables: readonly TableShape[]): string {
  const shapes = tables.map(({ name, columns }) => ({
    name,
    columns: Object.fromEntries(columns.map((column) => [column.name, column.kind])),
  }));
  return JSON.stringify({
    format: ARCHIVE_FORMAT,
    version: ARCHIVE_VERSION,
    made_by: madeBy,
    made_at: madeAt,
    tables: shapes,
  });
}

export const tableLine = (name: string): string => JSON.stringify({ table: name });

export const tableEndLine = (end: string, rows: number, sha256: string): string =>
  JSON.stringify({ end, rows, sha256 });

export const endLine = (rows: number, sha256: string, ledger: LedgerFacts): string =>
  JSON.stringify({ end: 'archive', rows, sha256, ledger });

/** Integers that JSON would round are digits in quotes; bytes are base64. */
export function rowLine(row: Row): string {
  return JSON.stringify(
    row.map((value) => {
      if (typeof value === 'bigint') {
        const number = Number(value);
        return Number.isSafeInteger(number) ? number : String(value);
      }
      return value instanceof Uint8Array ? value.toBase64() : value;
    }),
  );
}

/** Throws `ArchiveError` where a cell does not match its column's kind. */
export function rowOf(cells: readonly unknown[], { name, columns }: TableShape): Row {
  if (cells.length !== columns.length) throw damaged(`a row of ${name} has another length`);
  return columns.map((column, index) => {
    const value = cellValue(cells[index], column.kind);
    if (value === undefined)
      throw damaged(`a row of ${name} has no ${column.kind} in ${column.name}`);
    return value;
  });
}

function cellValue(cell: unknown, kind: ColumnKind): Value | undefined {
  if (cell === null) return null;
  switch (kind) {
    case 'integer':
      if (Number.isSafeInteger(cell)) return BigInt(cell as number);
      return typeof cell === 'string' && /^-?\d{1,19}$/.test(cell) ? BigInt(cell) : undefined;
    case 'text':
      return typeof cell === 'string' ? cell : undefined;
    case 'bytes':
      return typeof cell === 'string' ? bytesOf(cell) : undefined;
  }
}

function bytesOf(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return undefined;
  }
}

/** Reads one line. Throws `ArchiveError`. */
export function parseLine(text: string): Line {
  const value = parseJson(text);
  if (Array.isArray(value)) return { kind: 'row', cells: value };
  if (typeof value !== 'object' || value === null)
    throw damaged('a line is neither a row nor a mark');
  const mark = value as Readonly<Record<string, unknown>>;
  const { table, end, rows, sha256 } = mark;
  if (typeof table === 'string') return { kind: 'table', name: table };
  if (typeof end === 'string' && typeof rows === 'number' && typeof sha256 === 'string') {
    if (end !== 'archive') return { kind: 'table-end', name: end, rows, sha256 };
    return { kind: 'end', rows, sha256, ledger: ledgerFacts(mark['ledger']) };
  }
  return header(mark);
}

function header(mark: Readonly<Record<string, unknown>>): Line {
  if (mark['format'] !== ARCHIVE_FORMAT || !Array.isArray(mark['tables'])) {
    throw new ArchiveError('The file was not made by tollgate export.');
  }
  if (mark['version'] !== ARCHIVE_VERSION) {
    throw new ArchiveError(
      `The file has another format than this version reads (${ARCHIVE_VERSION}). Export and import with the same version of Tollgate.`,
    );
  }
  const tables = mark['tables'].map((each: unknown): TableShape => {
    const { name, columns } = each as { name?: unknown; columns?: unknown };
    if (typeof name !== 'string' || typeof columns !== 'object' || columns === null) {
      throw damaged('its header does not name its tables');
    }
    const entries = Object.entries(columns as Readonly<Record<string, ColumnKind>>);
    return { name, columns: entries.map(([column, kind]) => ({ name: column, kind })) };
  });
  return { kind: 'header', madeBy: String(mark['made_by']), tables };
}

function ledgerFacts(value: unknown): LedgerFacts {
  if (typeof value !== 'object' || value === null)
    throw damaged('its end does not sum up the books');
  return Object.fromEntries(Object.entries(value).map(([name, fact]) => [name, String(fact)]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged('a line is cut off or overwritten');
  }
}

/** `what` describes the damage, without a value of the file. */
export function damaged(what: string): ArchiveError {
  return new ArchiveError(
    `The file is damaged: ${what}. Nothing was imported. Copy it again, or make a new one with tollgate export.`,
  );
}
