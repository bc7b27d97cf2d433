// Reads receipts from the books: each is the row of a request or of a movement. `core/receipt.ts`
// writes the text from it, whose hash the row stores. Read-only.

import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  lt,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm';
import { type Micro, subtract } from '../core/money.ts';
import { type AccountReceipt, NO_PREVIOUS_RECEIPT } from '../core/receipt.ts';
import { reportShape, unpackReport } from '../core/usage-details.ts';
import { archivedMonths } from '../store/archive-tables.ts';
import type { Queries } from '../store/contract.ts';
import { balances, movements, requests } from '../store/money-tables.ts';
import { booksStart } from './archive/anchors.ts';
import { BookedNames } from './booked-names.ts';
import { hashText } from './receipts.ts';
import { accountNumber } from './request-kinds.ts';

export type BookedReceipt = {
  readonly receipt: AccountReceipt;
  /** SHA-256 of the text when it was written, in lower-case hexadecimal digits. */
  readonly hash: string;
};

/** The receipts of an account, as its balance summarizes them. */
export type ChainState = {
  /** The number of the last one; 0 before the first. */
  readonly sequence: number;
  readonly head: string;
  readonly posted: Micro;
};

type ReceiptRange = {
  /** Exclusive bounds of the sequence numbers. */
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
  readonly order: 'oldest first' | 'newest first';
  /** Movements have no request: credits, codes, corrections. */
  readonly only?: 'everything' | 'movements';
};

type ReceiptTable = typeof requests | typeof movements;

/** `undefined` for an unknown account. */
export async function chainState(db: Queries, accountId: string): Promise<ChainState | undefined> {
  const row = await db
    .select({ sequence: balances.sequence, head: balances.head, posted: balances.posted })
    .from(balances)
    .where(eq(balances.accountId, accountId))
    .get();
  return row && { ...row, head: hashText(row.head) };
}

/** Reads receipts with statements that are prepared on first use. */
export class ReceiptReader {
  readonly #db: Queries;
  readonly #names = new BookedNames();
  readonly #requestRows = new Map<ReceiptRange['order'], ReturnType<typeof prepareRequestRows>>();
  readonly #movementRows = new Map<ReceiptRange['order'], ReturnType<typeof prepareMovementRows>>();

  constructor(db: Queries) {
    this.#db = db;
  }

  /** The receipts of an account within a range. */
  async read(accountId: string, range: ReceiptRange): Promise<readonly BookedReceipt[]> {
    const rows = [
      ...(range.only === 'movements' ? [] : await this.#requests(accountId, range)),
      ...(await this.movements(accountId, range)),
    ];
    rows.sort((one, other) =>
      range.order === 'oldest first'
        ? one.sequence - other.sequence
        : other.sequence - one.sequence,
    );
    const read = rows.slice(0, range.limit);
    const hashes = await hashesOf(this.#db, accountId, read);
    return read.map((row) => {
      const previous = hashes.get(row.sequence - 1) ?? previousOf(row);
      const receipt = receiptOfRow(accountId, row, previous, this.#names);
      return { receipt, hash: hashText(row.hash) };
    });
  }

  /** Leaves out rows whose text or price is gone, so that a gap in the chain names them. */
  async #requests(accountId: string, range: ReceiptRange): Promise<RequestRow[]> {
    const { order } = range;
    const known = this.#requestRows.get(order) ?? prepareRequestRows(this.#db, order);
    this.#requestRows.set(order, known);
    const rows = await known.all(boundsOf(accountId, range));
    await this.#names.read(this.#db, rows.flatMap(textsOf), rows.flatMap(pricesOf));
    return rows.filter((row) => this.#names.has(textsOf(row), pricesOf(row)));
  }

  movements(accountId: string, range: ReceiptRange): Promise<MovementRow[]> {
    const { order } = range;
    const known = this.#movementRows.get(order) ?? prepareMovementRows(this.#db, order);
    this.#movementRows.set(order, known);
    return known.all(boundsOf(accountId, range));
  }
}

/**
 * The receipt of a request, by its id, or of a movement, by its transfer id. `undefined` for an archived
 * request, also while its row is still there: that of the receipt before it may be removed.
 */
export async function findReceipt(
  db: Queries,
  subject: string,
): Promise<BookedReceipt | undefined> {
  const request = await placeOf(db, requests, eq(requests.id, subject));
  const start = request && (await booksStart(db, request.accountId));
  if (request !== undefined && request.sequence <= (start?.sequence ?? 0)) return undefined;
  const place = request ?? (await placeOf(db, movements, eq(movements.transferId, subject)));
  if (place === undefined) return undefined;
  const { accountId, sequence } = place;
  const range = { after: sequence - 1, limit: 1, order: 'oldest first' } as const;
  return (await new ReceiptReader(db).read(accountId, range))[0];
}

/** Where the row of the receipt before it is archived. */
function previousOf(row: RequestRow | MovementRow): string {
  return 'transferId' in row ? hashText(row.previous) : NO_PREVIOUS_RECEIPT;
}

function placeOf(db: Queries, table: ReceiptTable, isMeant: SQL) {
  return db
    .select({ accountId: balances.accountId, sequence: table.sequence })
    .from(table)
    .innerJoin(balances, eq(balances.number, table.account))
    .where(isMeant)
    .get();
}

export function ofAccount(
  table: ReceiptTable | typeof archivedMonths,
  accountId: string | Placeholder,
): SQL {
  return eq(table.account, accountNumber(accountId));
}

/** Without the columns that no receipt states: the audit reads every row. */
const {
  number: _number,
  account: _account,
  key: _key,
  format: _format,
  stream: _stream,
  upstream: _upstream,
  ending: _ending,
  doubt: _doubt,
  promptTokens: _promptTokens,
  outputBound: _outputBound,
  endUser: _endUser,
  attempts: _attempts,
  ...STATED
} = getTableColumns(requests);

type RequestRow = Awaited<ReturnType<ReturnType<typeof prepareRequestRows>['all']>>[number];
type MovementRow = typeof movements.$inferSelect;

const textsOf = ({ model, modelServed, report }: RequestRow) => [
  model,
  modelServed,
  reportShape(report),
];
const pricesOf = ({ price, priceServed }: RequestRow) => [price, priceServed];

function prepareRequestRows(db: Queries, order: ReceiptRange['order']) {
  return db
    .select(STATED)
    .from(requests)
    .where(within(requests))
    .orderBy(ordered(requests, order))
    .limit(sql.placeholder('limit'))
    .prepare();
}

function prepareMovementRows(db: Queries, order: ReceiptRange['order']) {
  return db
    .select()
    .from(movements)
    .where(within(movements))
    .orderBy(ordered(movements, order))
    .limit(sql.placeholder('limit'))
    .prepare();
}

function within(table: ReceiptTable) {
  return and(
    ofAccount(table, sql.placeholder('accountId')),
    gt(table.sequence, sql.placeholder('after')),
    lt(table.sequence, sql.placeholder('before')),
  );
}

function boundsOf(accountId: string, range: ReceiptRange) {
  const { after = 0, before = Number.MAX_SAFE_INTEGER, limit } = range;
  return { accountId, after, before, limit };
}

function ordered({ sequence }: ReceiptTable, order: ReceiptRange['order']): SQL {
  return order === 'oldest first' ? asc(sequence) : desc(sequence);
}

/** The hashes of some receipts and of the one before each. */
async function hashesOf(
  db: Queries,
  accountId: string,
  rows: readonly { readonly sequence: number; readonly hash: Uint8Array }[],
): Promise<ReadonlyMap<number, string>> {
  const hashes = new Map(rows.map(({ sequence, hash }) => [sequence, hashText(hash)]));
  const unread = rows
    .map(({ sequence }) => sequence - 1)
    .filter((each) => each > 0 && !hashes.has(each));
  for (const table of unread.length === 0 ? [] : [requests, movements]) {
    const found = await db
      .select({ sequence: table.sequence, hash: table.hash })
      .from(table)
      .where(and(ofAccount(table, accountId), inArray(table.sequence, unread)))
      .all();
    for (const { sequence, hash } of found) hashes.set(sequence, hashText(hash));
  }
  const archived = unread.filter((sequence) => !hashes.has(sequence));
  if (archived.length === 0) return hashes;
  const anchors = await db
    .select({ sequence: archivedMonths.lastSequence, hash: archivedMonths.head })
    .from(archivedMonths)
    .where(
      and(ofAccount(archivedMonths, accountId), inArray(archivedMonths.lastSequence, archived)),
    )
    .all();
  for (const { sequence, hash } of anchors) hashes.set(sequence, hashText(hash));
  return hashes;
}

/** The receipt that a row states; `previous` is the hash of the one before it. */
function receiptOfRow(
  accountId: string,
  row: RequestRow | MovementRow,
  previous: string,
  names: BookedNames,
): AccountReceipt {
  const { sequence, posted } = row;
  const link = { accountId, sequence, previous, posted, available: subtract(posted, row.reserved) };
  if ('transferId' in row) {
    const { kind, transferId, at, amount } = row;
    return { ...link, kind, transferId, at, amount };
  }
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens } = row;
  const { basis, startedAt, charged, loss, price, priceServed, modelServed } = row;
  const prompt = { inputTokens, cachedInputTokens, cacheWriteTokens };
  const isOtherPrice = priceServed !== null && priceServed !== price;
  return {
    ...link,
    kind: 'request',
    requestId: row.id,
    startedAt,
    endedAt: startedAt + row.durationMs,
    model: names.text(row.model),
    modelServed: modelServed === null ? null : names.text(modelServed),
    outcome: row.outcome,
    usage: {
      ...prompt,
      outputTokens,
      reasoningTokens,
      basis,
      ...unpackReport(row.report, names.text).details,
    },
    price: names.price(price),
    priceServed: isOtherPrice ? names.price(priceServed) : null,
    held: row.held,
    charged,
    debited: subtract(charged, loss),
    loss,
    usdPerMillion: row.usdPerMillion,
  };
}
