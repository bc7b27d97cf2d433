// The file of `tollgate export`: it is read back as written, and every damage to it is found before
// the import trusts it.

import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Row, rowLine, type TableShape } from '../../../src/store/archive/format.ts';
import { type Portion, readArchive } from '../../../src/store/archive/reader.ts';
import { type ArchiveSource, writeArchive } from '../../../src/store/archive/writer.ts';

const directory = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
afterAll(() => rmSync(directory, { recursive: true }));

const TABLES: readonly TableShape[] = [
  {
    name: 'things',
    columns: [
      { name: 'id', kind: 'text' },
      { name: 'worth', kind: 'integer' },
      { name: 'sealed', kind: 'bytes' },
    ],
  },
  { name: 'none', columns: [{ name: 'id', kind: 'integer' }] },
];

const LEDGER = { entries: '3', sum: '0' };

let files = 0;

async function written(rows: readonly Row[]): Promise<string> {
  files += 1;
  const path = join(directory, `${files}.gz`);
  const source: ArchiveSource = {
    ...{ madeBy: '1', madeAt: '2026-11-21T00:00:00Z', tables: TABLES, ledger: LEDGER },
    async *rowsOf({ name }) {
      if (name !== 'things') return;
      for (let from = 0; from < rows.length; from += 3) yield rows.slice(from, from + 3);
    },
  };
  const counts = await writeArchive(path, source);
  expect(Object.fromEntries(counts)).toEqual({ things: rows.length, none: 0 });
  return path;
}

async function read(path: string): Promise<Portion[]> {
  return Array.fromAsync(readArchive(path));
}

const row = fc.tuple(
  fc.string({ unit: 'binary' }),
  fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  fc.option(fc.uint8Array()),
);

const ROWS: readonly Row[] = [
  ['one', 1n, Uint8Array.of(0, 255)],
  ['two', -(2n ** 62n), null],
  ['drei\n"', null, new Uint8Array(0)],
  ['vier', 2n ** 53n, null],
];

describe('a file of an export', () => {
  test('every value comes back as it was, for its owner alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 12 }), async (rows) => {
        const path = await written(rows);
        const portions = await read(path);
        expect(portions.flatMap((each) => (each.kind === 'rows' ? each.rows : []))).toEqual(rows);
        expect(portions.at(0)).toEqual({ kind: 'header', madeBy: '1', tables: TABLES });
        expect(portions.at(-1)).toEqual({ kind: 'end', rows: rows.length, ledger: LEDGER });
        expect(statSync(path).mode & 0o777).toBe(0o600);
      }),
      { numRuns: 30 },
    );
  });

  test('a row longer than any text is read in one piece', async () => {
    const bytes = new Uint8Array(60_000_000).fill(7);
    const portions = await read(await written([['large', 1n, bytes], ...ROWS]));
    const rows = portions.flatMap((portion) => (portion.kind === 'rows' ? portion.rows : []));
    expect(rows.map(([id]) => id)).toEqual(['large', ...ROWS.map(([id]) => id)]);
    expect(Buffer.compare(rows[0]?.[2] as Uint8Array, bytes)).toBe(0);
  }, 60_000);

  test('a file that is there is never overwritten, nor removed', async () => {
    const path = join(directory, 'mine');
    writeFileSync(path, 'mine');
    const source = {
      madeBy: '1',
      madeAt: '',
      tables: [],
      ledger: {},
      rowsOf: async function* () {},
    };
    await expect(writeArchive(path, source)).rejects.toThrow('EEXIST');
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  test('one that cannot be finished is removed', async () => {
    const path = join(directory, 'unfinished');
    const source = {
      ...{ madeBy: '1', madeAt: '', tables: TABLES, ledger: {} },
      // biome-ignore lint/correctness/useYield: the database fails before its first row.
      async *rowsOf(): AsyncGenerator<Row[]> {
        throw new Error('the database is gone');
      },
    };
    await expect(writeArchive(path, source)).rejects.toThrow('the database is gone');
    expect(() => statSync(path)).toThrow();
  });
});

describe('every damage to a file is found', () => {
  test('every byte that is missing at its end', async () => {
    const bytes = readFileSync(await written(ROWS));
    const path = join(directory, 'cut');
    for (let length = 0; length < bytes.length; length += 1) {
      writeFileSync(path, bytes.subarray(0, length));
      expect([length, await failureOf(path)]).toEqual([
        length,
        expect.stringContaining('The file'),
      ]);
    }
  });

  test('every bit that has turned over', async () => {
    const bytes = readFileSync(await written(ROWS));
    const path = join(directory, 'turned');
    const missed: string[] = [];
    // The time and the system in the head of the packed file say nothing about what is in it.
    for (let at = 10; at < bytes.length; at += 1) {
      const turned = Uint8Array.from(bytes);
      turned[at] = (turned[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(path, turned);
      const failure = await failureOf(path);
      if (failure === undefined) missed.push(`byte ${at}`);
    }
    expect(missed).toEqual([]);
  });

  const whole = [
    [
      'a row that is gone',
      (lines: string[]) => lines.toSpliced(3, 1),
      'rows of things are missing',
    ],
    [
      'a row that was added',
      (lines: string[]) => lines.toSpliced(3, 0, lines[3] ?? ''),
      'rows of things are missing',
    ],
    [
      'a value that was changed',
      (lines: string[]) => lines.toSpliced(2, 1, rowLine(['one', 2n, null])),
      'rows of things were changed',
    ],
    [
      'a number where a text belongs',
      (lines: string[]) => lines.toSpliced(2, 1, rowLine([1n, 2n, null])),
      'a row of things has no text in id',
    ],
    [
      'a number that is none',
      (lines: string[]) => lines.toSpliced(2, 1, '["one","1e3",null]'),
      'a row of things has no integer in worth',
    ],
    [
      'a fraction',
      (lines: string[]) => lines.toSpliced(2, 1, '["one",1.5,null]'),
      'a row of things has no integer in worth',
    ],
    [
      'bytes that are none',
      (lines: string[]) => lines.toSpliced(2, 1, '["one",1,"*"]'),
      'a row of things has no bytes in sealed',
    ],
    [
      'a row that is too short',
      (lines: string[]) => lines.toSpliced(2, 1, '["one"]'),
      'a row of things has another length',
    ],
    ['a table that is gone', (lines: string[]) => lines.toSpliced(1, 6), 'tables are missing'],
    ['an empty table that is gone', (lines: string[]) => lines.toSpliced(7, 2), 'it was changed'],
    [
      'a row outside of a table',
      (lines: string[]) => lines.toSpliced(1, 1),
      'a row belongs to no table',
    ],
    [
      'a table in a table',
      (lines: string[]) => lines.toSpliced(2, 0, '{"table":"none"}'),
      'its tables are out of order',
    ],
    [
      'the end of another table',
      (lines: string[]) => lines.toSpliced(6, 1, lines[8] ?? ''),
      'its tables are out of order',
    ],
    [
      'an unknown table',
      (lines: string[]) => lines.toSpliced(1, 0, '{"table":"other"}'),
      'its tables are out of order',
    ],
    [
      'a line that is no JSON',
      (lines: string[]) => lines.toSpliced(2, 1, '["one",'),
      'a line is cut off or overwritten',
    ],
    [
      'a line that is a number',
      (lines: string[]) => lines.toSpliced(2, 1, '12'),
      'a line is neither a row nor a mark',
    ],
    ['no end', (lines: string[]) => lines.slice(0, -1), 'its end is missing'],
    [
      'something behind the end',
      (lines: string[]) => [...lines, '[1]'],
      'something stands behind its end',
    ],
    [
      'a second header',
      (lines: string[]) => lines.toSpliced(1, 0, lines[0] ?? ''),
      'it has two headers',
    ],
    [
      'another version',
      (lines: string[]) =>
        lines.toSpliced(0, 1, (lines[0] ?? '').replace('"version":1', '"version":2')),
      'Export and import with the same version',
    ],
    ['another file altogether', () => ['{"some":"json"}'], 'was not made by tollgate export'],
    ['no header', (lines: string[]) => lines.slice(1), 'was not made by tollgate export'],
  ] as const;

  test.each(whole)('%s', async (_name, change, message) => {
    const text = new TextDecoder().decode(Bun.gunzipSync(readFileSync(await written(ROWS))));
    const path = join(directory, 'changed');
    const changed = change(text.trimEnd().split('\n'));
    writeFileSync(path, Bun.gzipSync(changed.map((line) => `${line}\n`).join('')));
    expect(await failureOf(path)).toContain(message);
  });

  test('no file, a file that is not readable, and one that is not packed', async () => {
    expect(await failureOf(join(directory, 'missing'))).toBe('There is no such file.');
    const path = join(directory, 'plain');
    writeFileSync(path, 'plain text');
    expect(await failureOf(path)).toContain('it cannot be unpacked to its end');
    chmodSync(path, 0o000);
    // Root may read everything.
    if (process.getuid?.() !== 0) expect(await failureOf(path)).toContain('cannot be read');
  });
});

async function failureOf(path: string): Promise<string | undefined> {
  try {
    await read(path);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
