// A query of Drizzle's as a statement of PostgreSQL's: its text is made once, and each run only puts
// its values in order. PostgreSQL prepares it when a session meets it first.

import { is, Param, Placeholder } from 'drizzle-orm';
import type { Query, Statement } from '../contract.ts';
import { numberPlaceholders } from './placeholders.ts';
import type { Reply } from './session.ts';

type Slot = {
  readonly name: string;
  /** What the column makes of a value, where the placeholder stands for a column's value. */
  readonly encode: ((value: unknown) => unknown) | undefined;
};

export function prepareOn<Values extends object, Row extends readonly unknown[]>(
  ask: (text: string, values: readonly unknown[]) => Promise<Reply>,
  query: Query,
): Statement<Values, Row> {
  const { sql, params } = query.toSQL();
  const text = numberPlaceholders(sql);
  const slots = params.map(slotOf);
  const run = (values: Values): Promise<Reply> => {
    const named = values as Readonly<Record<string, unknown>>;
    const bound = slots.map(({ name, encode }) => {
      const value = named[name];
      // A missing value would be bound as NULL without a word.
      if (value === undefined) throw new TypeError(`No value for ${name} was given.`);
      return encode === undefined ? value : encode(value);
    });
    return ask(text, bound);
  };
  const rowsOf = (reply: Reply): readonly Row[] => reply.rows as unknown as readonly Row[];
  return {
    run: async (values) => (await run(values)).count,
    get: async (values) => rowsOf(await run(values))[0],
    all: async (values) => rowsOf(await run(values)),
  };
}

function slotOf(parameter: unknown): Slot {
  if (is(parameter, Placeholder)) return { name: parameter.name, encode: undefined };
  if (is(parameter, Param) && is(parameter.value, Placeholder)) {
    const { encoder, value } = parameter;
    return { name: value.name, encode: (given) => encoder.mapToDriverValue(given) };
  }
  throw new TypeError(
    'A prepared statement takes placeholders only; write constants into its SQL.',
  );
}
