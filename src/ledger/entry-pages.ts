// Reads a slice of an account's ledger in pages, oldest first: what each entry moved and left, and
// which key and model it belongs to. Unlike `ReceiptReader`, it reads neither prices nor hashes, so a
// month of a busy account takes about a second. Read-only.

import { and, asc, eq, gte, lt, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { type Micro, negate, subtract } from '../core/money.ts';
import type { AccountReceipt } from '../core/receipt.ts';
import type { Queries } from '../store/contract.ts';
import { movements, requests, texts } from '../store/money-tables.ts';
import { ofAccount } from './booked-receipts.ts';
import type { Slice } from './receipt-slices.ts';

export type LedgerEntry = {
  readonly sequence: number;
  /** `archived`: all that was moved up to there, as one entry. */
  readonly kind: AccountReceipt['kind'] | 'archived';
  /** The id of the request, or of the movement. */
  readonly id: string;
  readonly at: number;
  /** Null for a movement. */
  readonly keyId: string | null;
  /** The model that served or, if none did, the requested one; null for a movement. */
  readonly model: string | null;
  /** The change of the balance. */
  readonly amount: Micro;
  /** The balance after it, including reserved amounts. */
  readonly posted: Micro;
};

const PAGE = 1_000;

const key = alias(texts, 'key');
const model = alias(texts, 'model');
const modelServed = alias(texts, 'model_served');

/** `only` the movements leaves out requests. */
export async function* entryPages(
  db: Queries,
  accountId: string,
  { first, last }: Slice,
  only: 'everything' | 'movements' = 'everything',
): AsyncGenerator<readonly LedgerEntry[], void, undefined> {
  const ofRequests = prepareRequests(db);
  const ofMovements = prepareMovements(db);
  for (let from = first; from <= last; from += PAGE) {
    const range = { accountId, from, until: Math.min(last + 1, from + PAGE) };
    const entries: LedgerEntry[] = only === 'movements' ? [] : await requestEntries(range);
    for (const row of await ofMovements.all(range)) {
      entries.push({ ...row, keyId: null, model: null });
    }
    // Each list is in order, so this costs little.
    yield entries.sort((one, other) => one.sequence - other.sequence);
  }

  async function requestEntries(range: Parameters<typeof ofRequests.all>[0]) {
    return (await ofRequests.all(range)).map(
      ({ startedAt, durationMs, charged, loss, asked, served, ...row }) => ({
        ...row,
        kind: 'request' as const,
        at: startedAt + durationMs,
        model: served ?? asked,
        amount: negate(subtract(charged, loss)),
      }),
    );
  }
}

function prepareRequests(db: Queries) {
  return db
    .select({
      sequence: requests.sequence,
      id: requests.id,
      startedAt: requests.startedAt,
      durationMs: requests.durationMs,
      keyId: key.text,
      asked: model.text,
      served: modelServed.text,
      charged: requests.charged,
      loss: requests.loss,
      posted: requests.posted,
    })
    .from(requests)
    .innerJoin(key, eq(key.number, requests.key))
    .innerJoin(model, eq(model.number, requests.model))
    .leftJoin(modelServed, eq(modelServed.number, requests.modelServed))
    .where(within(requests))
    .orderBy(asc(requests.sequence))
    .prepare();
}

function prepareMovements(db: Queries) {
  return db
    .select({
      sequence: movements.sequence,
      kind: movements.kind,
      id: movements.transferId,
      at: movements.at,
      amount: movements.amount,
      posted: movements.posted,
    })
    .from(movements)
    .where(within(movements))
    .orderBy(asc(movements.sequence))
    .prepare();
}

function within(table: typeof requests | typeof movements) {
  return and(
    ofAccount(table, sql.placeholder('accountId')),
    gte(table.sequence, sql.placeholder('from')),
    lt(table.sequence, sql.placeholder('until')),
  );
}
