// What a server and the commands beside it leave for each other: one row a name, in text. Worth
// nothing to the next server; whoever reads a note checks it.

import { eq } from 'drizzle-orm';
import type { Database } from './database.ts';
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
