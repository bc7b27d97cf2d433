// Reads the gateway's ledger from its database, a file or a PostgreSQL, with plain SQL, independent
// of the code that wrote it. Receipts are read as customers get them, as lines of an export.

import { Database } from 'bun:sqlite';
import postgres from 'postgres';
import { isOfPast, isPastMovement } from './past.ts';

export type Hold = {
  readonly requestId: string;
  readonly accountId: string;
  readonly mark: string;
  readonly amount: bigint;
  readonly promptTokens: number;
  readonly outputBound: number;
  readonly phase: string;
  readonly createdAtMs: number;
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

type Rows = Readonly<Record<'open' | 'records' | 'entries' | 'balances', readonly Row[]>>;

/** All but the receipts. `url` is `sqlite:` and a path, or that of a PostgreSQL. */
export function readLedger(url: string): Promise<Omit<LedgerBook, 'receipts'>> {
  return withQuery(url, async (query) => {
    const rows = (table: string) => query(`SELECT * FROM ${table}`);
    const records = await rows('usage_records');
    const past = new Set(records.filter(isPastRow).map(requestId));
    return bookOf({
      open: (await rows('holds')).filter((row) => !isPastRow(row)),
      records: records.filter((row) => !isPastRow(row)),
      entries: (await rows('ledger_entries')).filter(
        (row) =>
          !isPastMovement(row['transfer_id']) &&
          !(row['request_id'] !== null && past.has(requestId(row))),
      ),
      balances: (await rows('balances')).filter((row) => !isPastRow(row)),
    });
  });
}

/** A line of an export, but for the last one, which says where the chain ends. */
export function receiptOf(line: string): readonly ReceiptRow[] {
  const { account, sequence, id } = JSON.parse(line);
  return id === undefined ? [] : [{ accountId: account, sequence, subject: id, body: line }];
}

/** The number of open holds. */
export function openHolds(url: string): Promise<number> {
  return withQuery(url, async (query) => {
    const [row] = await query('SELECT count(*) AS open FROM open_holds');
    return Number(row?.['open'] ?? 0);
  });
}

const isPastRow = (row: Row): boolean => isOfPast(row['account_id']);

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

function bookOf(rows: Rows): Omit<LedgerBook, 'receipts'> {
  return {
    holds: [...rows.open.map(openHoldOf), ...rows.records.map(endedHoldOf)],
    records: rows.records.map(recordOf),
    entries: rows.entries.map((row) => ({
      transferId:
        row['request_id'] === null
          ? text(row, 'transfer_id')
          : `${text(row, 'kind')}:${requestId(row)}`,
      ledgerAccount: text(row, 'ledger_account'),
      amount: amount(row, 'amount'),
      kind: text(row, 'kind'),
    })),
    balances: rows.balances.map((row) => ({
      accountId: text(row, 'account_id'),
      posted: amount(row, 'posted'),
      held: amount(row, 'held'),
    })),
  };
}

function openHoldOf(row: Row): Hold {
  return {
    ...asked(row),
    amount: amount(row, 'amount'),
    promptTokens: count(row, 'prompt_tokens'),
    phase: row['checkpoint_at'] === null ? 'held' : 'delivering',
    endedAtMs: undefined,
  };
}

function endedHoldOf(row: Row): Hold {
  return {
    ...asked(row),
    amount: amount(row, 'held'),
    promptTokens: count(row, 'estimated_prompt_tokens'),
    phase: word(row, 'ending', ['settled', 'released', 'expired']),
    endedAtMs: count(row, 'ended_at'),
  };
}

function asked(row: Row) {
  return {
    requestId: requestId(row),
    accountId: text(row, 'account_id'),
    mark: text(row, 'end_user'),
    outputBound: count(row, 'output_bound'),
    createdAtMs: count(row, 'started_at'),
  };
}

const OUTCOMES = [
  'completed',
  'stopped_balance',
  'client_cancelled',
  'upstream_failed',
  'gateway_failed',
];

function recordOf(row: Row): UsageRecord {
  const served = row['model_served'];
  return {
    requestId: requestId(row),
    modelRequested: text(row, 'model_requested'),
    modelServed: served === null ? undefined : String(served),
    outcome: word(row, 'outcome', OUTCOMES),
    basis: word(row, 'usage_basis', ['reported', 'estimated', 'recovered']),
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

/** Words are kept as their places in a list. */
function word(row: Row, column: string, words: readonly string[]): string {
  return words[count(row, column)] ?? `unknown ${column}`;
}

/** Sixteen bytes, of which the text is the hexadecimal digits. */
function requestId(row: Row): string {
  return `req_${Buffer.from(row['request_id'] as Uint8Array).toString('hex')}`;
}

function amount(row: Row, column: string): bigint {
  const value = row[column];
  if (typeof value !== 'bigint') throw new Error(`${column} is not an integer`);
  return value;
}
