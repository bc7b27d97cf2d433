// The tables of nodes and leases. Times are those of the database's clock, so nodes need not agree
// about theirs. Written by `cluster/`.

import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { count, instant } from './columns.ts';

/** One row per start of a process; the holds of that start carry `boot`. */
export const nodes = sqliteTable('nodes', {
  boot: text().primaryKey(),
  node: text().notNull(),
  /** The machine's name, for display. */
  host: text().notNull(),
  pid: count().notNull(),
  version: text().notNull(),
  /** The addresses that it listens on, as a JSON array. */
  addresses: text().notNull(),
  state: text().$type<'serving' | 'draining'>().notNull(),
  /** Its report about Redis and about how it shares limits. */
  redis: text().notNull(),
  limits: text().notNull(),
  catalogVersion: count('catalog_version').notNull(),
  catalogDigest: text('catalog_digest').notNull(),
  inFlight: count('in_flight').notNull(),
  /** By how much its clock is ahead of the database's, in milliseconds. */
  clockOffsetMs: count('clock_offset_ms').notNull(),
  startedAt: instant('started_at').notNull(),
  heartbeatAt: instant('heartbeat_at').notNull(),
  /** Everything committed before this time has taken effect there. */
  seenAt: instant('seen_at').notNull(),
  /** Since then any node may end its holds, and it cannot rejoin under this boot. */
  deadAt: instant('dead_at'),
});

/** One holder at a time. `fence` grows with every change of holder. */
export const leases = sqliteTable('leases', {
  name: text().primaryKey(),
  /** The holder's boot; empty where the lease is free. */
  holder: text().notNull(),
  until: instant().notNull(),
  fence: count().notNull(),
});
