// The columns of the ledger's views, for tests that the migrations create them.

import { is } from 'drizzle-orm';
import { getViewConfig, SQLiteColumn, SQLiteView } from 'drizzle-orm/sqlite-core';
import * as views from '../../src/store/money-views.ts';

/** Each with its view: `holds.request_id`. */
export function viewColumns(): string[] {
  return Object.values<unknown>(views)
    .filter((value) => is(value, SQLiteView))
    .map(getViewConfig)
    .flatMap(({ name, selectedFields }) =>
      Object.values<unknown>(selectedFields).flatMap((column) =>
        is(column, SQLiteColumn) ? `${name}.${column.name}` : [],
      ),
    );
}
