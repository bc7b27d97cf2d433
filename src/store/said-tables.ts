// What upstreams said of failed attempts, for operators. Kept for seven days and bounded for each
// place; `operations/upstream-words.ts` writes and sweeps them. Not moved with an installation.

import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { FailureClass } from '../core/failure.ts';
import { count, instant } from './columns.ts';

/** One row per place and words, over all nodes: equal errors are counted. */
export const upstreamWords = sqliteTable(
  'upstream_words',
  {
    /** A digest of all that makes two errors equal. */
    id: text().primaryKey(),
    upstream: text().notNull(),
    /** The slug of the model. */
    model: text().notNull(),
    failure: text().$type<FailureClass>().notNull(),
    /** Null for an error inside a 200. */
    status: count(),
    /** Of the latest one: status, code, parameter and message. */
    words: text().notNull(),
    count: count().notNull(),
    firstAt: instant('first_at').notNull(),
    lastAt: instant('last_at').notNull(),
    /** The ids of the latest requests, newest first, with spaces between them. */
    requests: text().notNull(),
  },
  (table) => [index('upstream_words_place').on(table.upstream, table.lastAt)],
);
