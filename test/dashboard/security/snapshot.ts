// The whole content of a database as text, so that a test can assert that nothing changed.

import { Database as Connection } from 'bun:sqlite';
import { requestIdOf } from '../../../src/core/id.ts';

/** Columns that a look at a page may move: last-seen times. */
const SEEN = /^(last_used_at|last_used_address|last_seen_at|seen_at|updated_at)$/;

/** What servers write about themselves, every second, independent of requests. */
const SIGNS_OF_LIFE = ['leases', 'nodes'];

/** The note of the audit, which a server writes every minute. */
const AUDIT_MARK = 'audit_mark';

export type Snapshot = Readonly<Record<string, readonly string[]>>;

/**
 * Every row of every table as one line of JSON, without what only says when something was seen; and
 * of every view, because the books name accounts and requests by small numbers.
 */
export function takeSnapshot(databasePath: string): Snapshot {
  using database = new Connection(databasePath, { readonly: true });
  const tables = database
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all()
    .filter(({ name }) => !SIGNS_OF_LIFE.includes(name));
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

const IS_ID = /(^|_)(id|name|digest|subject|identifier)$/;

/**
 * What names something that has to do with `root`: ids in rows that mention it, and in rows that
 * mention those. Catalogs and other shared data have no rows of one customer.
 */
export function idsAround(snapshot: Snapshot, root: string): readonly string[] {
  let known = new Set([root]);
  for (let step = 0; step < 2; step += 1) {
    const rows = Object.values(rowsThatMention(snapshot, [...known])).flat();
    known = new Set([...known, ...rows.flatMap(idsOf)]);
  }
  return [...known].sort();
}

function idsOf(row: string): string[] {
  const columns = JSON.parse(row) as readonly (readonly [string, unknown])[];
  return columns.flatMap(([name, value]) =>
    IS_ID.test(name) && typeof value === 'string' && value.length >= 16 ? [value] : [],
  );
}

function rowsOf(database: Connection, table: string): string[] {
  return database
    .query<Record<string, unknown>, []>(`SELECT * FROM "${table}"`)
    .all()
    .filter(({ name }) => name !== AUDIT_MARK)
    .map((row) =>
      JSON.stringify(
        Object.entries(row)
          .filter(([name]) => !SEEN.test(name))
          .map(([name, value]) => [name, printed(name, value)]),
      ),
    )
    .sort();
}

function printed(name: string, value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  return name === 'request_id' ? requestIdOf(value) : Buffer.from(value).toString('base64');
}
