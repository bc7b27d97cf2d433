// The gateway's books as they lie in its database, a file or a PostgreSQL: read with plain SQL, so
// that nothing of the code that wrote them is needed to read them.

import { Database } from 'bun:sqlite';
import postgres from 'postgres';

export type Hold = {
  readonly requestId: string;
  readonly accountId: string;
  readonly mark: string;
  readonly amount: bigint;
  readonly promptTokens: number;
  readonly outputBound: number;
  readonly phase: string;
  readonly createdAtMs: number;
  readonly dispatchedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
};

export type UsageRecord = {
  readonly requestId: string;
  readonly modelRequested: string;
  readonly modelServed: string | undefined;
  readonly outcome: string;
  readonly basis: string;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly held: bigint;
  readonly charged: bigint;
  readonly debited: bigint;
  readonly loss: bigint;
};

export type Entry = {
  readonly transferId: string;
  readonly ledgerAccount: string;
  readonly amount: bigint;
  readonly kind: string;
};

export type Balance = {
  readonly accountId: string;
  readonly posted: bigint;
  readonly held: bigint;
};

export type ReceiptRow = {
  readonly accountId: string;
  readonly sequence: number;
  readonly subject: string;
  readonly body: string;
};

export type LedgerBook = {
  readonly holds: readonly Hold[];
  readonly records: readonly UsageRecord[];
  readonly entries: readonly Entry[];
  readonly balances: readonly Balance[];
  readonly receipts: readonly ReceiptRow[];
};

/** Columns as they come: integers as bigint, text as text. */
type Row = Readonly<Record<string, unknown>>;

/** `url` is `sqlite:` and a path, or that of a PostgreSQL. */
export function readLedger(url: string): Promise<LedgerBook> {
  return withQuery(url, async (query) => {
    const rows = (table: string) => query(`SELECT * FROM ${table}`);
    return bookOf({
      holds: await rows('holds'),
      records: await rows('usage_records'),
      entries: await rows('ledger_entries'),
      balances: await rows('balances'),
      receipts: await rows('receipts'),
    });
  });
}

/** How many holds nobody has ended. */
export function openHolds(url: string): Promise<number> {
  return withQuery(url, async (query) => {
    const [row] = await query('SELECT count(*) AS open FROM holds WHERE ended_at IS NULL');
    return Number(row?.['open'] ?? 0);
  });
}

type Query = (text: string) => Promise<readonly Row[]>;

async function withQuery<T>(url: string, read: (query: Query) => Promise<T>): Promise<T> {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length);
    using database = new Database(path, { readonly: true, safeIntegers: true });
    return await read(async (text) => database.query<Row, []>(text).all());
  }
  const sql = postgres(url, { max: 1, types: { bigint: postgres.BigInt } });
  try {
    return await read(async (text) => await sql.unsafe<Row[]>(text));
  } finally {
    await sql.end();
  }
}

function bookOf(rows: Readonly<Record<keyof LedgerBook, readonly Row[]>>): LedgerBook {
  return {
    holds: rows.holds.map(holdOf),
    records: rows.records.map(recordOf),
    entries: rows.entries.map((row) => ({
      transferId: text(row, 'transfer_id'),
      ledgerAccount: text(row, 'ledger_account'),
      amount: amount(row, 'amount'),
      kind: text(row, 'kind'),
    })),
    balances: rows.balances.map((row) => ({
      accountId: text(row, 'account_id'),
      posted: amount(row, 'posted'),
      held: amount(row, 'held'),
    })),
    receipts: rows.receipts.map((row) => ({
      accountId: text(row, 'account_id'),
      sequence: count(row, 'sequence'),
      subject: text(row, 'subject'),
      body: text(row, 'body'),
    })),
  };
}

function holdOf(row: Row): Hold {
  return {
    requestId: text(row, 'request_id'),
    accountId: text(row, 'account_id'),
    mark: text(row, 'end_user'),
    amount: amount(row, 'amount'),
    promptTokens: count(row, 'prompt_tokens'),
    outputBound: count(row, 'output_bound'),
    phase: text(row, 'phase'),
    createdAtMs: count(row, 'created_at'),
    dispatchedAtMs: instant(row, 'dispatched_at'),
    endedAtMs: instant(row, 'ended_at'),
  };
}

function recordOf(row: Row): UsageRecord {
  const served = row['model_served'];
  return {
    requestId: text(row, 'request_id'),
    modelRequested: text(row, 'model_requested'),
    modelServed: served === null ? undefined : String(served),
    outcome: text(row, 'outcome'),
    basis: text(row, 'usage_basis'),
    inputTokens: count(row, 'input_tokens'),
    cachedInputTokens: count(row, 'cached_input_tokens'),
    outputTokens: count(row, 'output_tokens'),
    held: amount(row, 'held'),
    charged: amount(row, 'charged'),
    debited: amount(row, 'debited'),
    loss: amount(row, 'loss'),
  };
}

function text(row: Row, column: string): string {
  return String(row[column] ?? '');
}

function count(row: Row, column: string): number {
  return Number(row[column]);
}

function instant(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : Number(row[column]);
}

function amount(row: Row, column: string): bigint {
  const value = row[column];
  if (typeof value !== 'bigint') throw new Error(`${column} is not an integer`);
  return value;
}
