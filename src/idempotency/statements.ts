// The prepared statements on requests with an `Idempotency-Key`. Row numbers follow the order of
// insertion, so the oldest row has the lowest number.

import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { IDEMPOTENT_STATES, idempotentRequests } from '../store/tables.ts';

const table = idempotentRequests;

const [RUNNING, KEPT, LOST] = IDEMPOTENT_STATES.map((_word, index) => sql.raw(String(index)));

export type IdempotentRow = typeof table.$inferSelect;

/** What shows whether a row has expired. */
export type Aged = Pick<IdempotentRow, 'state' | 'createdAt'>;

/** A row and the size of its answer, to be subtracted from the sums. */
export type Sized = { readonly id: number; readonly accountId: string; readonly bytes: number };

type SizedRow = [id: bigint, accountId: string, size: bigint];

/** The row of one request, for as long as it belongs to that request. */
export type Owned = { readonly digest: Uint8Array; readonly requestId: Uint8Array };

type Claimed = Pick<IdempotentRow, 'accountId' | 'digest' | 'fingerprint' | 'owner' | 'createdAt'> &
  Pick<Owned, 'requestId'>;

/** The time of a row begins again when its request ends: a long answer is kept as long as a short one. */
type Ended = Owned & Pick<IdempotentRow, 'createdAt'>;

type Kept = Ended & { readonly size: number; readonly sealed: Uint8Array };

/** Prepares every statement once. The table must exist. */
export function prepareStatements(database: Database) {
  const { db } = database;
  const value = sql.placeholder;
  const sized = { id: table.id, accountId: table.accountId, size: table.size };
  const ofAccount = sql`${table.accountId} = ${value('accountId')}`;
  const isKept = sql`${table.state} = ${KEPT}`;
  const isLost = sql`${table.state} = ${LOST}`;
  const isOwned = sql`${table.digest} = ${value('digest')} and ${table.requestId} = ${value('requestId')} and ${table.state} = ${RUNNING}`;
  const lowest = (where: SQL) =>
    sql`${table.id} = (select min(${table.id}) from ${table} where ${where})`;
  const isUpToLast = sql`${table.id} <= ${value('last')}`;
  const selectOldest = (where: SQL) =>
    db.select(sized).from(table).where(where).orderBy(table.id).limit(value('most'));
  const dropAnswers = (where: SQL) =>
    db
      .update(table)
      .set({ state: sql`${LOST}`, size: sql`0`, sealed: sql`null` })
      .where(where);
  const remove = (where: SQL | undefined) => db.delete(table).where(where).returning(sized);

  const find = db
    .select()
    .from(table)
    .where(eq(table.digest, value('digest')))
    .prepare();
  const look = db
    .select({ state: table.state, createdAt: table.createdAt })
    .from(table)
    .where(eq(table.digest, value('digest')))
    .prepare();
  const claim = database.prepare<Claimed>(
    db
      .insert(table)
      .values({
        accountId: value('accountId'),
        digest: value('digest'),
        fingerprint: value('fingerprint'),
        requestId: sql`${value('requestId')}`,
        owner: value('owner'),
        state: sql`${RUNNING}`,
        createdAt: value('createdAt'),
        size: sql`0`,
        sealed: sql`null`,
      })
      .onConflictDoNothing(),
  );
  const keep = database.prepare<Kept>(
    db
      .update(table)
      .set({
        state: sql`${KEPT}`,
        createdAt: sql`${value('createdAt')}`,
        size: sql`${value('size')}`,
        sealed: sql`${value('sealed')}`,
      })
      .where(isOwned),
  );
  const lose = database.prepare<Ended>(
    db
      .update(table)
      .set({ state: sql`${LOST}`, createdAt: sql`${value('createdAt')}` })
      .where(isOwned),
  );
  const release = database.prepare<Owned, SizedRow>(remove(isOwned));
  const removeRow = database.prepare<{ id: number; requestId: Uint8Array }, SizedRow>(
    remove(and(eq(table.id, value('id')), sql`${table.requestId} = ${value('requestId')}`)),
  );
  const drop = database.prepare<{ last: number }>(dropAnswers(sql`${isKept} and ${isUpToLast}`));
  const dropOf = database.prepare<{ accountId: string; last: number }>(
    dropAnswers(sql`${ofAccount} and ${isKept} and ${isUpToLast}`),
  );
  const oldestKept = database.prepare<{ most: number }, SizedRow>(selectOldest(isKept));
  const oldestKeptOf = database.prepare<{ accountId: string; most: number }, SizedRow>(
    selectOldest(sql`${ofAccount} and ${isKept}`),
  );
  const removeLost = database.prepare<object, SizedRow>(remove(lowest(isLost)));
  const removeLostOf = database.prepare<{ accountId: string }, SizedRow>(
    remove(lowest(sql`${ofAccount} and ${isLost}`)),
  );

  return {
    find: async (digest: Uint8Array): Promise<IdempotentRow | undefined> => find.get({ digest }),
    /** The row without its answer. */
    look: async (digest: Uint8Array): Promise<Aged | undefined> => look.get({ digest }),
    /** False if the digest has a row. */
    claim: async (row: Claimed) => (await claim.run(row)) > 0,
    keep: async (row: Kept) => (await keep.run(row)) > 0,
    lose: async (row: Ended) => void (await lose.run(row)),
    release: async (row: Owned) => sizedOf(await release.get(row)),
    /** Undefined if another request has the row by now. */
    remove: async (row: { id: number; requestId: Uint8Array }) => sizedOf(await removeRow.get(row)),
    /** Removes the answers up to the row with that number. Returns how many there were. */
    drop: async (last: number) => drop.run({ last }),
    dropOf: async (accountId: string, last: number) => dropOf.run({ accountId, last }),
    /** Rows with answers, the oldest first. */
    oldestKept: async (most: number) => (await oldestKept.all({ most })).map(sizedFrom),
    oldestKeptOf: async (accountId: string, most: number) =>
      (await oldestKeptOf.all({ accountId, most })).map(sizedFrom),
    removeLost: async () => sizedOf(await removeLost.get({})),
    removeLostOf: async (accountId: string) => sizedOf(await removeLostOf.get({ accountId })),
  };
}

function sizedOf(row: SizedRow | undefined): Sized | undefined {
  return row === undefined ? undefined : sizedFrom(row);
}

function sizedFrom([id, accountId, size]: SizedRow): Sized {
  return { id: Number(id), accountId, bytes: Number(size) };
}
