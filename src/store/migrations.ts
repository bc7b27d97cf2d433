// The migrations of this build, oldest first, as text inside the executable: one list per database.
// A test compares the lists with the journals of their folders.

import postgresInitial from '../../drizzle/postgres/0000_initial.sql' with { type: 'text' };
import postgresPrices from '../../drizzle/postgres/0001_upstream_prices.sql' with { type: 'text' };
import postgresUnpaid from '../../drizzle/postgres/0002_unpaid_holds.sql' with { type: 'text' };
import postgresWords from '../../drizzle/postgres/0003_upstream_words.sql' with { type: 'text' };
import initial from '../../drizzle/sqlite/0000_initial.sql' with { type: 'text' };
import prices from '../../drizzle/sqlite/0001_upstream_prices.sql' with { type: 'text' };
import unpaid from '../../drizzle/sqlite/0002_unpaid_holds.sql' with { type: 'text' };
import words from '../../drizzle/sqlite/0003_upstream_words.sql' with { type: 'text' };
import rollback from '../../drizzle/sqlite/0004_rollback_triggers.sql' with { type: 'text' };
import type { Dialect } from './contract.ts';

export type Migration = {
  readonly tag: string;
  /** The journal's time in Unix milliseconds, by which Drizzle identifies a migration. */
  readonly when: number;
  readonly sql: string;
};

const SQLITE: readonly Migration[] = [
  { tag: '0000_initial', when: 1795438883781, sql: initial },
  { tag: '0001_upstream_prices', when: 1795889760170, sql: prices },
  { tag: '0002_unpaid_holds', when: 1795903341443, sql: unpaid },
  { tag: '0003_upstream_words', when: 1795906477778, sql: words },
  { tag: '0004_rollback_triggers', when: 1795915594000, sql: rollback },
];

const POSTGRES: readonly Migration[] = [
  { tag: '0000_initial', when: 1795438885419, sql: postgresInitial },
  { tag: '0001_upstream_prices', when: 1795889760605, sql: postgresPrices },
  { tag: '0002_unpaid_holds', when: 1795903343134, sql: postgresUnpaid },
  { tag: '0003_upstream_words', when: 1795906478076, sql: postgresWords },
];

export const MIGRATIONS: Readonly<Record<Dialect, readonly Migration[]>> = {
  sqlite: SQLITE,
  postgres: POSTGRES,
};
