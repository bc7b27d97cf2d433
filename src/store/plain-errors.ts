// Drizzle writes every value of a statement that failed into the message of an error around the real
// one, where a log would show it. Imported by whoever opens a database, for what it does on import:
// from then on a query rejects with the driver's own error.

import { RemotePreparedQuery } from 'drizzle-orm/sqlite-proxy';

Object.assign(RemotePreparedQuery.prototype, {
  queryWithCache: (_text: string, _values: unknown[], query: () => Promise<unknown>) => query(),
});
