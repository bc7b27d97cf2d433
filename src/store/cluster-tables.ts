// The processes that serve one database, and what one of them may do alone for a while. Instants are
// the database's own clock, so that nodes need not agree about the time. Written by `cluster/`.

import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { count, instant } from './columns.ts';

/** One row a start of a process; `boot` is also what the holds of that start carry. */
export const nodes = sqliteTable('nodes', {
  boot: text().primaryKey(),
  node: text().notNull(),
  /** Of the machine, for people. */
  host: text().notNull(),
  pid: count().notNull(),
  version: text().notNull(),
  /** A JSON array of where it listens. */
  addresses: text().notNull(),
  state: text().$type<'serving' | 'draining'>().notNull(),
  /** What it says of Redis and of how it shares limits, in its own words. */
  redis: text().notNull(),
  limits: text().notNull(),
  catalogVersion: count('catalog_version').notNull(),
  catalogDigest: text('catalog_digest').notNull(),
  inFlight: count('in_flight').notNull(),
  /** By how much its clock is ahead of the database's, in milliseconds. */
  clockOffsetMs: count('clock_offset_ms').notNull(),
  startedAt: instant('started_at').notNull(),
  heartbeatAt: instant('heartbeat_at').notNull(),
  /** Everything that was committed before it has taken effect there. */
  seenAt: instant('seen_at').notNull(),
  /** Since then any node may end its holds, and it may not come back under this boot. */
  deadAt: instant('dead_at'),
});

/** What one holder at a time may do. `fence` grows with every change of holder. */
export const leases = sqliteTable('leases', {
  name: text().primaryKey(),
  /** The boot that has it; empty where the lease is free. */
  holder: text().notNull(),
  until: instant().notNull(),
  fence: count().notNull(),
});
