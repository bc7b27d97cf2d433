// Refused requests, which reach no model and leave nothing in the books. Kept for seven days and
// bounded; `refusals/` writes and sweeps them.

import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { ErrorCode } from '../core/error.ts';
import type { RouteName } from '../core/request-summary.ts';
import { count, instant, requestId } from './columns.ts';

/**
 * One row per account, minute and kind of refusal, so that a flood of equal ones is one row. There
 * is no text of a caller in it.
 */
export const refusedRequests = sqliteTable(
  'refused_requests',
  {
    /** The id of the first request. */
    id: requestId('id').primaryKey(),
    /** Null where the key belongs to no account. */
    accountId: text('account_id'),
    keyId: text('key_id'),
    /** When the first and the last request arrived. */
    at: instant().notNull(),
    lastAt: instant('last_at').notNull(),
    count: count().notNull(),
    route: text().$type<RouteName>().notNull(),
    /** The slug of a model of the catalog; null where the request named none, or was not read. */
    model: text(),
    status: count().notNull(),
    code: text().$type<ErrorCode>().notNull(),
    /** Null where it is the code's own message. */
    message: text(),
  },
  (table) => [
    index('refused_requests_account').on(table.accountId, table.at),
    index('refused_requests_at').on(table.at),
  ],
);
