// The prepared statements of the reasoning store. Row numbers follow the order of insertion, so the
// oldest row has the lowest number.

import { and, eq, notBetween, sql } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { reasoning } from '../store/tables.ts';

type Row = Omit<typeof reasoning.$inferInsert, 'id'>;
type RemovedRow = [accountId: string, size: bigint];

/** A removed row, to be subtracted from the sums. */
export type Removed = { readonly accountId: string; readonly size: number };

/** Prepares every statement once. The table must exist. */
export function prepareStatements(database: Database) {
  const { db } = database;
  const value = sql.placeholder;
  const ofAccount = eq(reasoning.accountId, value('accountId'));
  const lowest = sql`select min(${reasoning.id}) from ${reasoning}`;
  const isOldest = sql`${reasoning.id} = (${lowest})`;
  const gone = { accountId: reasoning.accountId, size: reasoning.size };
  const sum = { size: sql<bigint>`coalesce(sum(${reasoning.size}), 0)` };

  const insert = database.prepare<Row>(
    db.insert(reasoning).values({
      accountId: value('accountId'),
      digest: value('digest'),
      createdAt: value('createdAt'),
      size: value('size'),
      sealed: value('sealed'),
    }),
  );
  const find = database.prepare<{ digest: Uint8Array }, [createdAt: bigint, sealed: Uint8Array]>(
    db
      .select({ createdAt: reasoning.createdAt, sealed: reasoning.sealed })
      .from(reasoning)
      .where(eq(reasoning.digest, value('digest'))),
  );
  const removeSame = database.prepare<{ digest: Uint8Array }, RemovedRow>(
    db
      .delete(reasoning)
      .where(eq(reasoning.digest, value('digest')))
      .returning(gone),
  );
  const removeOldest = database.prepare<object, RemovedRow>(
    db.delete(reasoning).where(isOldest).returning(gone),
  );
  const removeOldestOf = database.prepare<{ accountId: string }, RemovedRow>(
    db
      .delete(reasoning)
      .where(sql`${reasoning.id} = (${lowest} where ${ofAccount})`)
      .returning(gone),
  );
  const removeOutside = database.prepare<{ from: number; to: number }, RemovedRow>(
    db
      .delete(reasoning)
      .where(and(isOldest, notBetween(reasoning.createdAt, value('from'), value('to'))))
      .returning(gone),
  );
  const findOldest = database.prepare<object, [createdAt: bigint]>(
    db.select({ createdAt: reasoning.createdAt }).from(reasoning).where(isOldest),
  );
  const size = database.prepare<object, [bigint]>(db.select(sum).from(reasoning));
  const sizeOf = database.prepare<{ accountId: string }, [bigint]>(
    db.select(sum).from(reasoning).where(ofAccount),
  );

  return {
    insert: async (row: Row) => insert.run(row),
    async find(digest: Uint8Array) {
      const row = await find.get({ digest });
      return row === undefined ? undefined : { createdAt: Number(row[0]), sealed: row[1] };
    },
    removeSame: async (digest: Uint8Array) => removed(await removeSame.get({ digest })),
    removeOldest: async () => removed(await removeOldest.get({})),
    removeOldestOf: async (accountId: string) => removed(await removeOldestOf.get({ accountId })),
    /** When the oldest row was stored, in Unix milliseconds. */
    async oldestAt(): Promise<number | undefined> {
      const row = await findOldest.get({});
      return row === undefined ? undefined : Number(row[0]);
    },
    /** Removes the oldest row if its time lies outside these bounds, in Unix milliseconds. */
    removeOldestOutside: async (from: number, to: number) =>
      removed(await removeOutside.get({ from, to })),
    size: async () => Number((await size.get({}))?.[0] ?? 0),
    sizeOf: async (accountId: string) => Number((await sizeOf.get({ accountId }))?.[0] ?? 0),
  };
}

function removed(row: RemovedRow | undefined): Removed | undefined {
  return row === undefined ? undefined : { accountId: row[0], size: Number(row[1]) };
}
