// The prepared statements of the reasoning store, and nothing else. Rows are numbered in the order
// in which they came, so the oldest is the one with the lowest number.

import { and, eq, notBetween, sql } from 'drizzle-orm';
import type { Database } from '../store/database.ts';
import { prepareStatement } from '../store/statement.ts';
import { reasoning } from '../store/tables.ts';

type Row = Omit<typeof reasoning.$inferInsert, 'id'>;
type RemovedRow = [accountId: string, size: bigint];

/** A row that is gone, so that somebody can count it out. */
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

  const insert = prepareStatement<Row>(
    database,
    db.insert(reasoning).values({
      accountId: value('accountId'),
      digest: value('digest'),
      createdAt: value('createdAt'),
      size: value('size'),
      sealed: value('sealed'),
    }),
  );
  const find = prepareStatement<{ digest: Uint8Array }, [createdAt: bigint, sealed: Uint8Array]>(
    database,
    db
      .select({ createdAt: reasoning.createdAt, sealed: reasoning.sealed })
      .from(reasoning)
      .where(eq(reasoning.digest, value('digest'))),
  );
  const removeSame = prepareStatement<{ digest: Uint8Array }, RemovedRow>(
    database,
    db
      .delete(reasoning)
      .where(eq(reasoning.digest, value('digest')))
      .returning(gone),
  );
  const removeOldest = prepareStatement<object, RemovedRow>(
    database,
    db.delete(reasoning).where(isOldest).returning(gone),
  );
  const removeOldestOf = prepareStatement<{ accountId: string }, RemovedRow>(
    database,
    db
      .delete(reasoning)
      .where(sql`${reasoning.id} = (${lowest} where ${ofAccount})`)
      .returning(gone),
  );
  const removeOutside = prepareStatement<{ from: number; to: number }, RemovedRow>(
    database,
    db
      .delete(reasoning)
      .where(and(isOldest, notBetween(reasoning.createdAt, value('from'), value('to'))))
      .returning(gone),
  );
  const size = prepareStatement<object, [bigint]>(database, db.select(sum).from(reasoning));
  const sizeOf = prepareStatement<{ accountId: string }, [bigint]>(
    database,
    db.select(sum).from(reasoning).where(ofAccount),
  );

  return {
    insert: insert.run,
    find(digest: Uint8Array) {
      const row = find.get({ digest });
      return row === undefined ? undefined : { createdAt: Number(row[0]), sealed: row[1] };
    },
    removeSame: (digest: Uint8Array) => removed(removeSame.get({ digest })),
    removeOldest: () => removed(removeOldest.get({})),
    removeOldestOf: (accountId: string) => removed(removeOldestOf.get({ accountId })),
    /** Removes the oldest row where its time lies outside these, in Unix milliseconds. */
    removeOldestOutside: (from: number, to: number) => removed(removeOutside.get({ from, to })),
    size: () => Number(size.get({})?.[0] ?? 0),
    sizeOf: (accountId: string) => Number(sizeOf.get({ accountId })?.[0] ?? 0),
  };
}

function removed(row: RemovedRow | undefined): Removed | undefined {
  return row === undefined ? undefined : { accountId: row[0], size: Number(row[1]) };
}
