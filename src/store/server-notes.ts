// Notes between a server and commands: one row per name, as text. The next server ignores them, except
// when the database began; a reader validates what it finds.

import { eq, lte, min } from 'drizzle-orm';
import type { Database } from './contract.ts';
import { accounts, serverNotes } from './tables.ts';

type NoteName = typeof serverNotes.$inferSelect.name;

export async function readNote({ db }: Database, name: NoteName): Promise<string | undefined> {
  return (await db.select().from(serverNotes).where(eq(serverNotes.name, name)).get())?.value;
}

export async function writeNote(
  { db }: Database,
  name: NoteName,
  value: string,
  nowMs: number,
): Promise<void> {
  await db
    .insert(serverNotes)
    .values({ name, value, updatedAt: nowMs })
    .onConflictDoUpdate({ target: serverNotes.name, set: { value, updatedAt: nowMs } })
    .run();
}

/**
 * Writes what was true at `asOfMs`, unless the row is from a later time. Resolves with whether it
 * was written: a server may have been paused between reading and writing.
 */
export async function writeNewestNote(
  { db }: Database,
  name: NoteName,
  value: string,
  asOfMs: number,
): Promise<boolean> {
  const rows = await db
    .insert(serverNotes)
    .values({ name, value, updatedAt: asOfMs })
    .onConflictDoUpdate({
      target: serverNotes.name,
      set: { value, updatedAt: asOfMs },
      setWhere: lte(serverNotes.updatedAt, asOfMs),
    })
    .returning({ name: serverNotes.name });
  return rows.length > 0;
}

/**
 * When a database was new, imported or restored, in Unix milliseconds: its first account, or the
 * first server that asked before there was one, though not before `afterMs`, because its clock may be
 * behind. Copies of the database have the same time.
 */
export async function databaseBegan(
  database: Database,
  nowMs: number,
  afterMs: number,
): Promise<number> {
  const noted = Number(await readNote(database, 'began'));
  if (Number.isSafeInteger(noted)) return noted;
  const first = await database.db
    .select({ at: min(accounts.createdAt) })
    .from(accounts)
    .get();
  const beganMs = first?.at ?? Math.max(nowMs, afterMs);
  // The next server asks again: where its disk is full, a database needs its backup most.
  await writeNote(database, 'began', String(beganMs), nowMs).catch(() => undefined);
  return beganMs;
}
