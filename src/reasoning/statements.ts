// The prepared statements of the reasoning store. Row numbers follow the order of insertion, so the
// oldest row has the lowest number.

import { eq, sql } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { reasoning } from '../store/tables.ts';

type Row = Omit<typeof reasoning.$inferInsert, 'id'>;
type RemovedRow = [accountId: string, size: bigint];

/** A removed row, to be subtracted from the sums. */
export type Removed = { readonly accountId: string; readonly bytes: number };

/** Prepares every statement once. The table must exist. */
export function prepareStatements(database: Database) {
  const { db } = database;
  const value = sql.placeholder;
  const lowest = sql`select min(${reasoning.id}) from ${reasoning}`;
  const gone = { accountId: reasoning.accountId, size: reasoning.size };

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
    db.delete(reasoning).where(sql`${reasoning.id} = (${lowest})`).returning(gone),
  );
  const removeOldestOf = database.prepare<{ accountId: string }, RemovedRow>(
    db
      .delete(reasoning)
      .where(
        sql`${reasoning.id} = (${lowest} where ${eq(reasoning.accountId, value('accountId'))})`,
      )
      .returning(gone),
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
  };
}

function removed(row: RemovedRow | undefined): Removed | undefined {
  return row === undefined ? undefined : { accountId: row[0], bytes: Number(row[1]) };
}
