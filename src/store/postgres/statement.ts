// A Drizzle query as a PostgreSQL statement: its text is made once, each run only orders its
// values. PostgreSQL prepares it on first use in a session.

import type { Query, Statement } from '../contract.ts';
import { createBinder } from '../statement.ts';
import { toPostgres } from './placeholders.ts';
import type { Reply } from './values.ts';

export function prepareOn<Values extends object, Row extends readonly unknown[]>(
  ask: (text: string, values: readonly unknown[]) => Promise<Reply>,
  query: Query,
): Statement<Values, Row> {
  const { sql, params } = query.toSQL();
  const text = toPostgres(sql);
  const bind = createBinder(params);
  const run = (values: Values): Promise<Reply> => ask(text, bind(values));
  const rowsOf = (reply: Reply): readonly Row[] => reply.rows as unknown as readonly Row[];
  return {
    run: async (values) => (await run(values)).count,
    get: async (values) => rowsOf(await run(values))[0],
    all: async (values) => rowsOf(await run(values)),
  };
}
