// What SQLite and PostgreSQL write differently, in words that both understand. Used where a query
// needs it; everything else is written as it is.

import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** The smaller of two numbers; neither is null. */
export function smaller(a: SQLWrapper, b: SQLWrapper): SQL {
  return sql`case when ${a} < ${b} then ${a} else ${b} end`;
}

/** Whether a text has `part` in it, letter by letter; not LIKE, in which some stand for any. */
export function contains(text: SQLWrapper, part: string): SQL {
  return part === '' ? sql`1 = 1` : sql`replace(${text}, ${part}, '') <> ${text}`;
}

export function beginsWith(text: SQLWrapper, part: string): SQL {
  return sql`substr(${text}, 1, ${[...part].length}) = ${part}`;
}

/** A text in a way that no index has it, for where another condition leaves fewer rows. */
export function unindexed(text: SQLWrapper): SQL {
  return sql`${text} || ''`;
}
