// Lists of records: a table for people, and the records for programs.

import { type Output, shortTime, table } from './command.ts';

/** A list; `cells` maps a record to a row of the table. */
export function listOutput<Row>(
  data: readonly Row[],
  header: readonly string[],
  cells: (record: Row) => readonly string[],
): Output {
  return { json: { object: 'list', data }, text: table(header, data.map(cells)) };
}

/** A short time from a record; `-` where there is none. */
export function shortInstant(text: string | null): string {
  return text === null ? '-' : shortTime(Date.parse(text));
}
