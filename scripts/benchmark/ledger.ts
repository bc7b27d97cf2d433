// The ledger by itself, against bare SQLite statements that do the same to the same tables with the
// same sync: holds and settlements a second; how long a request waits for both; and how long the
// event loop stands still meanwhile. Called by scripts/benchmark/run.ts. Rounds are interleaved.

import { Database as Connection, type SQLQueryBindings } from 'bun:sqlite';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBooks } from '../../src/ledger/books.ts';
import type { HoldCommand, Ledger, SettleCommand } from '../../src/ledger/contract.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createRemoteLedger } from '../../src/ledger/remote.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { addAccount, creditOf, holdOf, settleOf } from '../../test/support/ledger.ts';

export type LedgerBenchOptions = { readonly rounds: number; readonly seconds: number };

/** How long an upstream takes where requests do not come as fast as they can. */
const ANSWER_MS = 20;

const LANES = 64;
const ACCOUNTS = 16;
const HELD = 1_000_000n;
const CHARGED = 600_000n;
const CREDIT = 1_000_000_000_000_000n;

type Subject = {
  readonly name: string;
  /** Holds and settles on so many lanes; answers how many pairs a second it did. */
  readonly saturate: (lanes: number, seconds: number) => Promise<number>;
  readonly ledger: Ledger | undefined;
  readonly close: () => Promise<void>;
};

/** Request ids rise with time, as those of a server do. */
let lastRequest = 0;
const nextId = (): string => `req_${String(++lastRequest).padStart(12, '0')}`;
const accountOf = (lane: number): string => `acct_${lane % ACCOUNTS}`;

export async function benchLedger({ rounds, seconds }: LedgerBenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-ledger-'));
  const subjects = [
    await rawSubject(folder),
    await ledgerSubject(folder, 'in process'),
    await ledgerSubject(folder, 'in its thread'),
  ];
  const rates = subjects.map((): number[] => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, subject] of subjects.entries()) {
      const rate = await subject.saturate(LANES, seconds);
      if (round >= 0) rates[index]?.push(rate);
    }
  }
  row(`ledger, ${LANES} at once, full sync`, ['pairs/s', 'of raw']);
  for (const [index, { name }] of subjects.entries()) {
    const own = rates[index] ?? [];
    const ratios = own.map((rate, round) => rate / (rates[0]?.[round] ?? rate));
    row(name, [median(own).toFixed(0), median(ratios).toFixed(2)]);
  }
  process.stdout.write('\n');
  row(`hold + settle, answers of ${ANSWER_MS} ms`, ['p50 µs', 'p99 µs', 'longest stall ms']);
  for (const { name, ledger } of subjects) {
    if (ledger === undefined) continue;
    for (const lanes of [1, LANES]) {
      const { waits, stallMs } = await pace(ledger, lanes, seconds * rounds);
      const cells = [0.5, 0.99].map((share) => percentile(waits, share).toFixed(0));
      row(`${name}, ${lanes} at once`, [...cells, stallMs.toFixed(1)]);
    }
  }
  const idle = await watchStalls(() => Bun.sleep(seconds * rounds * 1_000));
  row('nothing at all', ['', '', idle.toFixed(1)]);
  process.stdout.write('\n');
  for (const subject of subjects) await subject.close();
  await rm(folder, { recursive: true });
}

async function ledgerSubject(folder: string, name: 'in process' | 'in its thread') {
  const url = `sqlite:${join(folder, `${name.replaceAll(' ', '-')}.db`)}`;
  const database = openDatabase({ url, sync: 'full' });
  await migrate(database);
  const ledger =
    name === 'in process' ? createLedger({ database }) : createRemoteLedger({ url, sync: 'full' });
  const books = createBooks(database);
  for (let n = 0; n < ACCOUNTS; n += 1) {
    await addAccount({ database, ledger, books }, accountOf(n));
    await ledger.credit(creditOf(`credit-${n}`, accountOf(n), CREDIT));
  }
  return {
    name: `ledger ${name}`,
    ledger,
    saturate: (lanes: number, seconds: number) => saturate(ledger, lanes, seconds),
    async close() {
      await ledger.close();
      const differences = (await books.audit()).filter(({ kind }) => kind !== 'chain');
      if (differences.length > 0) throw new Error(`the ledger ${name} has differences`);
      await database.close();
    },
  } satisfies Subject;
}

async function saturate(ledger: Ledger, lanes: number, seconds: number): Promise<number> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  let pairs = 0;
  const lane = async (_: unknown, index: number): Promise<void> => {
    while (performance.now() < endsAt) {
      const id = nextId();
      const held = await ledger.hold(holdCommand(id, index));
      if (!held.ok) throw new Error('the benchmark has run out of money');
      await ledger.settle(settleCommand(id));
      pairs += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return pairs / ((performance.now() - startedAt) / 1_000);
}

/** Lanes that wait for an answer between hold and settle, as requests do: microseconds of both. */
async function pace(ledger: Ledger, lanes: number, seconds: number) {
  const endsAt = performance.now() + seconds * 1_000;
  const waits: number[] = [];
  const lane = async (_: unknown, index: number): Promise<void> => {
    await Bun.sleep((ANSWER_MS * index) / lanes);
    while (performance.now() < endsAt) {
      const id = nextId();
      const heldFrom = performance.now();
      await ledger.hold(holdCommand(id, index));
      const heldMs = performance.now() - heldFrom;
      await Bun.sleep(ANSWER_MS);
      const settledFrom = performance.now();
      await ledger.settle(settleCommand(id));
      waits.push((heldMs + performance.now() - settledFrom) * 1_000);
    }
  };
  const stallMs = await watchStalls(() => Promise.all(Array.from({ length: lanes }, lane)));
  return { waits: waits.sort((a, b) => a - b), stallMs };
}

/** The longest time in which a timer of one millisecond did not come, beyond that millisecond. */
async function watchStalls(work: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }, 1);
  await work();
  clearInterval(timer);
  return longest;
}

type Row = Record<string, SQLQueryBindings>;

/** What the ledger has written for one request, written again and again with other ids. */
async function rawSubject(folder: string): Promise<Subject> {
  const path = join(folder, 'raw.db');
  const database = openDatabase({ url: `sqlite:${path}`, sync: 'full' });
  await migrate(database);
  const ledger = createLedger({ database });
  for (let n = 0; n < ACCOUNTS; n += 1) {
    await addAccount({ database, ledger, books: createBooks(database) }, accountOf(n));
    await ledger.credit(creditOf(`credit-${n}`, accountOf(n), CREDIT));
  }
  const first = nextId();
  await ledger.hold(holdCommand(first, 0));
  const open = database.connection.query<Row, []>('SELECT * FROM holds').get();
  await ledger.settle(settleCommand(first));
  const record = database.connection.query<Row, []>('SELECT * FROM usage_records').get();
  await database.close();
  if (open === null || record === null) throw new Error('the ledger wrote no rows');

  const connection = new Connection(path, { readwrite: true, strict: true, safeIntegers: true });
  connection.run('PRAGMA journal_mode = WAL');
  connection.run('PRAGMA synchronous = FULL');
  connection.run('PRAGMA wal_autocheckpoint = 4000');
  const reserve = connection.prepare(
    'UPDATE balances SET held = held + ?1 WHERE account_id = ?2 AND posted - held >= ?1 RETURNING posted - held',
  );
  const insertHold = connection.prepare(insertOf('holds', open));
  const endHold = connection.prepare(
    "UPDATE holds SET phase = 'settled', ended_at = ?1 WHERE request_id = ?2 AND ended_at IS NULL RETURNING amount",
  );
  const spend = connection.prepare(
    'UPDATE balances SET posted = posted - ?1, held = held - ?2 WHERE account_id = ?3 RETURNING posted - held',
  );
  const insertEntries = connection.prepare(
    `INSERT INTO ledger_entries (transfer_id, ledger_account, amount, kind, at)
     VALUES (?1, 'operator:revenue', ?2, 'settle', ?4), (?1, ?3, -?2, 'settle', ?4)`,
  );
  const insertRecord = connection.prepare(insertOf('usage_records', record));

  const hold = (id: string, lane: number): void => {
    reserve.values(HELD, accountOf(lane));
    const values = { ...open, request_id: id, account_id: accountOf(lane) };
    insertHold.run(...Object.values(values));
  };
  const settle = (id: string, lane: number): void => {
    endHold.values(1, id);
    spend.values(CHARGED, HELD, accountOf(lane));
    insertEntries.run(`settle:${id}`, CHARGED, `customer:${accountOf(lane)}`, 1);
    const values = { ...record, request_id: id, account_id: accountOf(lane) };
    insertRecord.run(...Object.values(values));
  };
  const inTransaction = (ids: readonly string[], work: typeof hold): void => {
    connection.run('BEGIN IMMEDIATE');
    ids.forEach(work);
    connection.run('COMMIT');
  };
  return {
    name: 'raw statements',
    ledger: undefined,
    async saturate(lanes, seconds) {
      const startedAt = performance.now();
      let pairs = 0;
      while (performance.now() < startedAt + seconds * 1_000) {
        const ids = Array.from({ length: lanes }, nextId);
        inTransaction(ids, hold);
        inTransaction(ids, settle);
        pairs += lanes;
      }
      return pairs / ((performance.now() - startedAt) / 1_000);
    },
    close: async () => connection.close(),
  };
}

function insertOf(table: string, row: Row): string {
  const names = Object.keys(row);
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
}

function holdCommand(id: string, lane: number): HoldCommand {
  return holdOf(id, accountOf(lane), HELD);
}

function settleCommand(id: string): SettleCommand {
  return settleOf(id, CHARGED);
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

function median(values: readonly number[]): number {
  return percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

function row(name: string, cells: readonly string[]): void {
  process.stdout.write(`${name.padEnd(38)}${cells.map((cell) => cell.padStart(18)).join('')}\n`);
}
