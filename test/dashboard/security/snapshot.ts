// Everything a database holds, as text, so that a test can say that nothing was changed.

import { Database as Connection } from 'bun:sqlite';

/** Columns that a look at a page may move: when somebody or something was last seen. */
const SEEN = /^(last_used_at|last_seen_at|seen_at|updated_at)$/;

export type Snapshot = Readonly<Record<string, readonly string[]>>;

/** Every row of every table as one line of JSON, without what only says when something was seen. */
export function takeSnapshot(databasePath: string): Snapshot {
  using database = new Connection(databasePath, { readonly: true });
  const tables = database
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all();
  return Object.fromEntries(tables.map(({ name }) => [name, rowsOf(database, name)]));
}

/** The part of a snapshot that mentions any of these. */
export function rowsThatMention(snapshot: Snapshot, words: readonly string[]): Snapshot {
  return Object.fromEntries(
    Object.entries(snapshot)
      .map(([table, rows]) => [
        table,
        rows.filter((row) => words.some((word) => row.includes(`"${word}"`))),
      ])
      .filter(([, rows]) => rows?.length !== 0),
  );
}

function rowsOf(database: Connection, table: string): string[] {
  return database
    .query<Record<string, unknown>, []>(`SELECT * FROM "${table}"`)
    .all()
    .map((row) =>
      JSON.stringify(
        Object.entries(row).filter(([name]) => !SEEN.test(name)),
        printBytes,
      ),
    )
    .sort();
}

function printBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}
