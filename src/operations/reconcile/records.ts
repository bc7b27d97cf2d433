// Reads a vendor's export, CSV (RFC 4180) or JSON, as flat records. Columns are in snake case, and
// members of nested objects are joined to their names: `amount.value` is `amount_value`.

import { isObject } from '../../core/json.ts';
import { parseJsonNumbers } from '../../core/json-numbers.ts';
import { OperationError } from '../error.ts';

/** `place` is such as `bill.csv, line 7`. */
export type ExportRecord = { readonly place: string; readonly values: ReadonlyMap<string, string> };

type ExportRecords = {
  /** In JSON, those of any record. */
  readonly columns: ReadonlySet<string>;
  readonly records: AsyncIterable<ExportRecord> | Iterable<ExportRecord>;
  /** The last page of JSON says that more follow. */
  readonly hasMore?: boolean;
};

/** `name` is the file in messages. CSV is read row by row: exports of single calls are long. */
export async function readExport(path: string, name: string): Promise<ExportRecords> {
  const file = Bun.file(path);
  if (!(await file.exists())) {
    throw new OperationError('file_not_readable', `${name} cannot be read. Check its path.`);
  }
  const head = (await file.slice(0, 1_024).text()).trimStart();
  if (head === '') throw emptyFile(name);
  if (/^[[{]/.test(head)) return jsonRecords(await file.text(), name);
  const rows = csvRows(file.stream().pipeThrough(new TextDecoderStream()), name);
  const first = await rows.next();
  const header = first.done === true ? [] : first.value.cells.map(columnName);
  async function* records(): AsyncGenerator<ExportRecord> {
    for await (const { place, cells } of rows) {
      if (cells.length !== header.length) {
        throw badRow(place, `it has ${cells.length} cells, and the header ${header.length}`);
      }
      yield { place, values: new Map(header.map((column, at) => [column, cells[at] ?? ''])) };
    }
  }
  return { columns: new Set(header), records: records() };
}

type CsvRow = { readonly place: string; readonly cells: readonly string[] };

async function* csvRows(chunks: AsyncIterable<string>, name: string): AsyncGenerator<CsvRow> {
  let [rest, line] = ['', 1];
  function* complete(): Generator<CsvRow> {
    let end = 0;
    // A line break between quotes does not end a row.
    for (const [row] of rest.matchAll(/(?:[^"\n]|"[^"]*")*\n/gy)) {
      const cells = row.trim().matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
      if (row.trim() !== '')
        yield { place: `${name}, line ${line}`, cells: [...cells].map(cellOf) };
      line += row.split('\n').length - 1;
      end += row.length;
    }
    rest = rest.slice(end);
  }
  for await (const chunk of chunks) {
    rest += chunk;
    yield* complete();
  }
  rest += '\n';
  yield* complete();
  if (rest !== '') throw badRow(`${name}, line ${line}`, 'a quote is never closed');
}

function cellOf([, quoted, plain = '']: RegExpExecArray): string {
  return quoted?.replaceAll('""', '"') ?? plain;
}

/** One page of an answer, a list of pages, or a list of records. */
function jsonRecords(text: string, name: string): ExportRecords {
  const whole = parseJsonNumbers(text);
  if (whole === undefined) {
    throw new OperationError('bad_file', `${name} is neither CSV nor JSON. Export it again.`);
  }
  const pages = [whole].flat();
  const buckets = pages.flatMap((page) => listOf(page, 'data') ?? [page]);
  const records = buckets.flatMap((bucket, index) =>
    (listOf(bucket, 'results') ?? [bucket]).map((result, number): ExportRecord => {
      const place = `${name}, data[${index}].results[${number}]`;
      if (!isObject(bucket) || !isObject(result)) throw badRow(place, 'it is not an object');
      // Results of a bucket get its times.
      return { place, values: new Map(valuesOf({ ...bucket, results: null, ...result })) };
    }),
  );
  if (records.length === 0) throw emptyFile(name);
  const columns = new Set(records.flatMap(({ values }) => [...values.keys()]));
  return { columns, records, hasMore: Object(pages.at(-1)).has_more === true };
}

function valuesOf(object: object, prefix = ''): [string, string][] {
  return Object.entries(object).flatMap(([key, member]: [string, unknown]) => {
    const name = columnName(`${prefix}${key}`);
    return isObject(member) ? valuesOf(member, `${name}_`) : [[name, String(member ?? '')]];
  });
}

function listOf(value: unknown, name: string): readonly unknown[] | undefined {
  const member = isObject(value) ? value[name] : undefined;
  return Array.isArray(member) ? member : undefined;
}

function columnName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
}

export function badRow(place: string, what: string): OperationError {
  return new OperationError('bad_row', `${place}: ${what}. Export the file again.`);
}

export function emptyFile(name: string): OperationError {
  return new OperationError('empty_file', `${name} has no rows. Export it again.`);
}
