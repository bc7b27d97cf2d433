// The migrations that this build knows, oldest first, as text inside the executable: one list a
// database. A test holds the lists against the journals of their folders.

import postgresInitial from '../../drizzle/postgres/0000_initial.sql' with { type: 'text' };
import initial from '../../drizzle/sqlite/0000_initial.sql' with { type: 'text' };
import type { Dialect } from './contract.ts';

export type Migration = {
  readonly tag: string;
  /** The journal's time in Unix milliseconds: what Drizzle knows a migration by. */
  readonly when: number;
  readonly sql: string;
};

const SQLITE: readonly Migration[] = [{ tag: '0000_initial', when: 1795380388033, sql: initial }];

const POSTGRES: readonly Migration[] = [
  { tag: '0000_initial', when: 1795380388375, sql: postgresInitial },
];

export const MIGRATIONS: Readonly<Record<Dialect, readonly Migration[]>> = {
  sqlite: SQLITE,
  postgres: POSTGRES,
};
