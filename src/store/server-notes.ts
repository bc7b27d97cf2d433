// What a server and the commands beside it leave for each other: one row a name, in text. Worth
// nothing to the next server; a reader checks what it finds.

import { eq, lte } from 'drizzle-orm';
import type { Database } from './contract.ts';
import { serverNotes } from './tables.ts';

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
 * Writes what was true at `asOfMs`, unless what is there is of later. Answers whether it was written:
 * of several servers, one may have stood still between looking and writing.
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
