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
  ne,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { type Micro, subtract } from '../core/money.ts';
import {
  type AccountReceipt,
  type MovementReceipt,
  NO_PREVIOUS_RECEIPT,
  type RequestReceipt,
} from '../core/receipt.ts';
import { archivedMonths } from '../store/archive-tables.ts';
import type { Queries } from '../store/contract.ts';
import { balances, movements, priceVersions, requests, texts } from '../store/money-tables.ts';
import { hashText } from './receipts.ts';

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
      const { sequence, posted, reserved } = row;
      const previous = hashes.get(sequence - 1) ?? previousOf(row);
      const available = subtract(posted, reserved);
      const link = { accountId, sequence, previous, posted, available };
      const facts = 'transferId' in row ? movementFacts(row) : requestFacts(row);
      return { receipt: { ...link, ...facts }, hash: hashText(row.hash) };
    });
  }

  #requests(accountId: string, range: ReceiptRange): Promise<RequestRow[]> {
    const { order } = range;
    const known = this.#requestRows.get(order) ?? prepareRequestRows(this.#db, order);
    this.#requestRows.set(order, known);
    return known.all(boundsOf(accountId, range));
  }

  movements(accountId: string, range: ReceiptRange): Promise<MovementRow[]> {
    const { order } = range;
    const known = this.#movementRows.get(order) ?? prepareMovementRows(this.#db, order);
    this.#movementRows.set(order, known);
    return known.all(boundsOf(accountId, range));
  }
}

/** The receipt of a request, by its id, or of a movement, by its transfer id. */
export async function findReceipt(
  db: Queries,
  subject: string,
): Promise<BookedReceipt | undefined> {
  const place =
    (await placeOf(db, requests, eq(requests.id, subject))) ??
    (await placeOf(db, movements, eq(movements.transferId, subject)));
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
  const named = sql`select ${balances.number} from ${balances} where ${balances.accountId} = ${accountId}`;
  return sql`${table.account} = (${named})`;
}

const model = alias(texts, 'model');
const modelServed = alias(texts, 'model_served');
const asked = alias(priceVersions, 'asked');
const answered = alias(priceVersions, 'answered');

const {
  report: _report,
  attempts: _attempts,
  endUser: _endUser,
  ...REQUEST
} = getTableColumns(requests);

type RequestRow = Awaited<ReturnType<ReturnType<typeof prepareRequestRows>['all']>>[number];

/** The columns of a request that its receipt states. */
export type FactsRow = Omit<
  RequestRow,
  'number' | 'account' | 'key' | 'format' | 'stream' | 'upstream' | 'ending' | 'doubt'
> &
  Partial<RequestRow>;
type MovementRow = typeof movements.$inferSelect;

function prepareRequestRows(db: Queries, order: ReceiptRange['order']) {
  return db
    .select({
      ...REQUEST,
      model: model.text,
      modelServed: modelServed.text,
      price: asked,
      priceServed: answered,
    })
    .from(requests)
    .innerJoin(model, eq(model.number, requests.model))
    .innerJoin(asked, eq(asked.number, requests.price))
    .leftJoin(modelServed, eq(modelServed.number, requests.modelServed))
    .leftJoin(
      answered,
      and(eq(answered.number, requests.priceServed), ne(requests.priceServed, requests.price)),
    )
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

export function movementFacts({ kind, transferId, at, amount }: MovementRow) {
  return { kind, transferId, at, amount } satisfies Partial<MovementReceipt>;
}

/** `row` has the texts and prices that its numbers stand for. */
export function requestFacts(row: FactsRow) {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens } = row;
  const { basis, startedAt, charged, loss, price, priceServed } = row;
  const prompt = { inputTokens, cachedInputTokens, cacheWriteTokens };
  return {
    kind: 'request' as const,
    requestId: row.id,
    startedAt,
    endedAt: startedAt + row.durationMs,
    model: row.model,
    modelServed: row.modelServed,
    outcome: row.outcome,
    usage: { ...prompt, outputTokens, reasoningTokens, basis },
    price,
    priceServed,
    held: row.held,
    charged,
    debited: subtract(charged, loss),
    loss,
    usdPerMillion: row.usdPerMillion,
  } satisfies Partial<RequestReceipt>;
}
