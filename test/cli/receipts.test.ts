// `receipts` over a real database: an export can be verified with the file alone, and every change
// to the file is detected.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { chainEnd, createChainCheck } from '../../src/core/receipt-chain.ts';
import { checkFile, sha256 } from '../../src/operations/receipt-file.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { dropGuards, tamper, temporaryDirectory } from '../support/database.ts';
import {
  booksOver,
  closeBooks,
  creditOf,
  fundAccount,
  holdOf,
  NOW,
  type OpenBooks,
  settleOf,
} from '../support/ledger.ts';
import { samples } from '../support/tier.ts';
import { createTollgate } from './tollgate.ts';

setDefaultTimeout(60_000);

const directory = temporaryDirectory();
const tollgate = createTollgate(directory);
const DAY_MS = 86_400_000;

let open: OpenBooks;

/** Requests of three days in a row over the end of a month: NOW is 2026-11-21. */
const DAYS = [NOW, NOW + 9 * DAY_MS, NOW + 10 * DAY_MS];

beforeAll(async () => {
  mkdirSync(join(directory, 'data'));
  const database = openDatabase({
    url: `sqlite:${join(directory, 'data', 'tollgate.db')}`,
    sync: 'normal',
  });
  await migrate(database);
  open = booksOver(database);
  for (const id of ['ada', 'bob', 'eve'])
    await fundAccount(open, id, id === 'eve' ? 0n : 1_000_000n);
  for (const [day, startedAt] of DAYS.entries()) {
    for (const number of [1, 2]) {
      const id = `req-${day}-${number}`;
      await open.ledger.hold({ ...holdOf(id, 'ada', 30n), nowMs: startedAt });
      await open.ledger.settle({ ...settleOf(id, 15n), nowMs: startedAt + number });
    }
  }
  await open.ledger.credit({ ...creditOf('later', 'ada', 500n), nowMs: NOW + 11 * DAY_MS });
});

afterAll(() => closeBooks(open));

let files = 0;

async function exported(...options: string[]): Promise<string> {
  files += 1;
  const name = `receipts-${files}.jsonl`;
  await tollgate.json('receipts', 'export', '--account', 'ada', '--out', name, ...options);
  return join(directory, name);
}

function changed(text: string): string {
  files += 1;
  const path = join(directory, `changed-${files}.jsonl`);
  writeFileSync(path, text);
  return path;
}

async function problemsOf(path: string): Promise<string[]> {
  const { problems } = await checkFile(path);
  return problems.map(({ kind, sequence }) => `${kind} ${sequence}`);
}

type Checked = { readonly problems: readonly unknown[] };

async function checkedOf(...paths: string[]): Promise<readonly Checked[]> {
  const { stdout } = await tollgate.run('receipts', 'verify', ...paths, '--json');
  return (JSON.parse(stdout) as { readonly checked: readonly Checked[] }).checked;
}

/** A file of these receipts alone, as an export writes it. */
function sliceOf(lines: readonly string[]): string {
  const check = createChainCheck(sha256);
  for (const line of lines) check.take(line);
  return changed([...lines, chainEnd(check.totals()), ''].join('\n'));
}

describe('export', () => {
  test('writes every receipt, and verify adds them up without a database or settings', async () => {
    const path = await exported();
    const elsewhere = temporaryDirectoryOf('elsewhere');
    const verified = await createTollgate(elsewhere, { PORT: 'no number' }).json(
      ...['receipts', 'verify', path],
    );
    expect(verified).toEqual({
      ok: true,
      checked: [
        {
          name: path,
          ok: true,
          account_id: 'ada',
          first: 1,
          last: 8,
          requests: 6,
          movements: 2,
          opening_balance: '0',
          credited: '1.0005',
          debited: '0.00009',
          loss: '0',
          closing_balance: '1.00041',
          problems: [],
        },
      ],
    });
  });

  test('without a file, the same goes to standard output', async () => {
    const { exitCode, stdout } = await tollgate.run('receipts', 'export', '--account', 'ada');
    expect(exitCode).toBe(0);
    expect(stdout).toBe(readFileSync(await exported(), 'utf8'));
  });

  test('months take turns: each receipt is in one of them, and they join', async () => {
    const november = await exported('--month', '2026-11');
    const december = await exported('--from', '2026-12-01', '--to', '2027-01-01');
    const { checked } = await tollgate.json('receipts', 'verify', november, december);
    expect(checked).toMatchObject([
      { first: 1, last: 5, opening_balance: '0', closing_balance: '0.99994' },
      { first: 6, last: 8, opening_balance: '0.99994', closing_balance: '1.00041' },
    ]);
  });

  test('what cannot be exported', async () => {
    const out = (...options: string[]) => tollgate.refusal('receipts', 'export', ...options);
    expect(await out('--account', 'eve')).toEqual([1, 'no_receipts']);
    expect(await out('--account', 'ada', '--month', '2025-01')).toEqual([1, 'no_receipts']);
    expect(await out('--account', 'ada', '--month', '2026-13')).toEqual([1, 'invalid_time']);
    expect(await out('--account', 'unknown')).toEqual([1, 'account_not_found']);
    const path = await exported();
    expect(await out('--account', 'ada', '--out', path)).toEqual([1, 'file_exists']);
    expect(await out('--account', 'ada', '--out', 'no/such/folder')).toEqual([
      1,
      'file_not_writable',
    ]);
  });
});

describe('verify', () => {
  const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n');
  const written = (lines: readonly string[]): string => changed(lines.join('\n'));

  test('names a changed digit, a dropped line, a swapped pair, an inserted line and a cut', async () => {
    const lines = linesOf(await exported());
    const [a = '', b = ''] = lines.slice(3, 5);
    const digit = a.replace('"output_tokens":10', '"output_tokens":19');
    expect(digit).not.toBe(a);
    expect(await problemsOf(written(lines))).toEqual([]);
    expect(await problemsOf(written(lines.with(3, digit)))).toEqual(['charge 4', 'changed 4']);
    expect(await problemsOf(written(lines.toSpliced(3, 1)))).toEqual(['missing 4']);
    expect(await problemsOf(written(lines.toSpliced(0, 1)))).toEqual(['end 8']);
    expect(await problemsOf(written(lines.toSpliced(7, 1)))).toEqual(['end 7']);
    expect(await problemsOf(written(lines.toSpliced(3, 2, b, a)))).toEqual([
      ...['missing 4', 'order 4'],
    ]);
    expect(await problemsOf(written(lines.toSpliced(3, 0, a)))).toEqual(['order 4']);
    expect(await problemsOf(written(lines.slice(0, 5)))).toEqual(['end 4']);
    expect(await problemsOf(written([...lines.slice(0, 5), '']))).toEqual(['end 5']);
    expect(await problemsOf(changed(lines.join('\n').slice(0, -1)))).toEqual(['end 8']);
    expect(await problemsOf(changed(''))).toEqual(['end 0']);
  });

  test('ends with 1 and says it in words', async () => {
    const lines = linesOf(await exported());
    const path = written(lines.toSpliced(3, 1));
    const { exitCode, stdout } = await tollgate.run('receipts', 'verify', path);
    expect(exitCode).toBe(1);
    expect(stdout).toBe(
      [
        `WRONG  ${path}: receipts 1 to 8 of ada`,
        '  5 requests, 2 other movements',
        '  0 at first, 1.0005 credited, 0.000075 debited, 1.00041 at last',
        '  missing  4  The receipts from 4 to 4 are not there.\n',
      ].join('\n'),
    );
  });

  test('files that do not join, in any order', async () => {
    const november = await exported('--month', '2026-11');
    const lines = linesOf(await exported('--month', '2026-12'));
    const forged = written(
      lines.map((line) =>
        line.replace(/"previous":"[0-9a-f]{64}"/, `"previous":"${'ab'.repeat(32)}"`),
      ),
    );
    const problem = {
      of: 6,
      kind: 'changed',
      detail: 'It does not go on from receipt 5 of the file before.',
    };
    expect((await checkedOf(november, forged))[1]?.problems).toContainEqual(problem);
    expect((await checkedOf(forged, november))[0]?.problems).toContainEqual(problem);
  });

  test('files with receipts missing between them, and not those with the same ones', async () => {
    const [whole, december] = [await exported(), await exported('--month', '2026-12')];
    const cut = sliceOf(linesOf(whole).slice(0, 4));
    const missing = [
      { of: 5, kind: 'missing', detail: 'The receipts from 5 to 5 are in none of the files.' },
    ];
    const problemsBy = async (...files: string[]) =>
      (await checkedOf(...files)).map(({ problems }) => problems);
    expect(await problemsBy(december, cut)).toEqual([missing, []]);
    expect(await problemsBy(cut, december, whole)).toEqual([[], [], []]);
  });

  test('files with common receipts that differ, in any order and with any of them in common', async () => {
    const lines = linesOf(await exported()).slice(0, 8);
    // Rewritten with every hash of its own chain, as only the file before can tell.
    const rewrite = (from: number, to: number): string => {
      let before = '';
      const bodies = lines.slice(from - 1, to).map((line, at) => {
        const id = at === 0 ? line.replace('"id":"', '"id":"other-') : line;
        const linked = id.replace(/"previous":"[0-9a-f]{64}"/, `"previous":"${before}"`);
        before = sha256(at === 0 ? id : linked);
        return at === 0 ? id : linked;
      });
      return sliceOf(bodies);
    };
    const honest = sliceOf(lines.slice(0, 5));
    const problem = (of: number) => ({
      ...{ of, kind: 'changed' },
      detail: `Its receipts up to ${of} are not those of the file before.`,
    });
    for (const [from, to, common] of [
      [5, 8, 5],
      [3, 7, 5],
      [3, 4, 4],
      [3, 5, 5],
    ] as const) {
      const rewritten = rewrite(from, to);
      expect(await problemsOf(rewritten)).toEqual([]);
      expect((await checkedOf(honest, rewritten))[1]?.problems).toEqual([problem(common)]);
      expect((await checkedOf(rewritten, honest))[0]?.problems).toEqual([problem(common)]);
      const same = sliceOf(lines.slice(from - 1, to));
      expect((await checkedOf(honest, same)).map(({ problems }) => problems)).toEqual([[], []]);
    }
  });

  test('what cannot be verified', async () => {
    const refused = (...options: string[]) => tollgate.refusal('receipts', 'verify', ...options);
    expect(await refused()).toEqual([1, 'invalid_arguments']);
    expect(await refused('file', '--all')).toEqual([1, 'invalid_arguments']);
    expect(await refused('no-such-file')).toEqual([1, 'file_not_readable']);
  });

  test('law: no character of an export can be changed, added or taken away', async () => {
    const text = readFileSync(await exported(), 'utf8');
    const character = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom('0', '1', '9', '"', '\n', '\r', ' ', '}', '\uFEFF'),
    );
    const edit = fc.constantFrom('change', 'add', 'drop');
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), character, edit, async (at, added, how) => {
        const put = how === 'drop' ? '' : added;
        const edited = `${text.slice(0, at)}${put}${text.slice(how === 'add' ? at : at + 1)}`;
        fc.pre(edited !== text);
        const path = join(directory, 'law.jsonl');
        writeFileSync(path, edited);
        expect((await checkFile(path)).problems).not.toEqual([]);
      }),
      { numRuns: samples(500, 1_500) },
    );
  });

  test('a byte that is no text is noticed too', async () => {
    const bytes = Buffer.from(readFileSync(await exported()));
    bytes[200] = 0xff;
    const path = join(directory, 'bytes.jsonl');
    writeFileSync(path, bytes);
    expect(await problemsOf(path)).toContain('unreadable 0');
  });
});

test.each([
  ['a line without an end', Buffer.alloc(8_000_000, 'a')],
  ['lines without a receipt', Buffer.alloc(1_000_000, '\n')],
] as const)('%s: the file is read no further', async (_name, text) => {
  const path = join(directory, 'bomb.jsonl.gz');
  writeFileSync(path, Bun.gzipSync(text));
  const { problems } = await checkFile(path);
  expect(problems.at(-1)?.kind).toBe('unreadable');
  expect(problems.length).toBeLessThan(100_000);
});

describe('the books', () => {
  test('of one account and of all', async () => {
    const one = await tollgate.json('receipts', 'verify', '--account', 'ada');
    expect(one).toMatchObject({ ok: true, checked: [{ name: 'ada', last: 8, requests: 6 }] });
    const { checked } = await tollgate.json('receipts', 'verify', '--all');
    expect((checked as { name: string }[]).map(({ name }) => name).toSorted()).toEqual([
      ...['ada', 'bob', 'eve'],
    ]);
  });

  test('show prints one receipt with its hash', async () => {
    const shown = await tollgate.json('receipts', 'show', 'req-0-1');
    expect(shown).toMatchObject({
      receipt: { version: 1, account: 'ada', sequence: 2, id: 'req-0-1', charged: '0.000015' },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { stdout } = await tollgate.run('receipts', 'show', 'credit:later');
    expect(stdout).toContain('"amount": "0.0005"');
    expect(await tollgate.refusal('receipts', 'show', 'none')).toEqual([1, 'receipt_not_found']);
  });

  test('a receipt that was changed in the books is named', async () => {
    await dropGuards(open.database);
    await tamper(open.database, 'UPDATE requests SET output_tokens = 9 WHERE id = {req-1-1}');
    const { exitCode, stdout } = await tollgate.run('receipts', 'verify', '--all', '--json');
    expect(exitCode).toBe(1);
    const { checked }: { checked: { name: string; problems: unknown[] }[] } = JSON.parse(stdout);
    expect(checked.filter(({ problems }) => problems.length > 0)).toMatchObject([
      {
        name: 'ada',
        problems: [
          { of: 'ada', kind: 'chain', detail: expect.stringContaining('receipt 4: charge') },
          { of: 'req-1-1', kind: 'receipt' },
        ],
      },
    ]);
  });
});

function temporaryDirectoryOf(name: string): string {
  const path = join(directory, name);
  mkdirSync(path);
  return path;
}
