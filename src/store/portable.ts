// SQL that SQLite and PostgreSQL write differently, in a form that both accept. All other SQL is
// written directly.

import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** The smaller of two numbers; neither is null. */
export function smaller(a: SQLWrapper, b: SQLWrapper): SQL {
  return sql`case when ${a} < ${b} then ${a} else ${b} end`;
}

/** The larger of two numbers; neither is null. */
export function larger(a: SQLWrapper, b: SQLWrapper): SQL {
  return sql`case when ${a} > ${b} then ${a} else ${b} end`;
}

/** Whether a text contains `part` literally; LIKE would treat some characters as wildcards. */
export function contains(text: SQLWrapper, part: string | SQL): SQL {
  return part === '' ? sql`1 = 1` : sql`replace(${text}, ${part}, '') <> ${text}`;
}

export function beginsWith(text: SQLWrapper, part: string): SQL {
  return sql`substr(${text}, 1, ${[...part].length}) = ${part}`;
}

/**
 * Hides a text column from the indexes, for queries in which another condition is more selective.
 */
export function unindexed(text: SQLWrapper): SQL {
  return sql`${text} || ''`;
}

/** The same for a column of numbers. */
export function unindexedNumber(number: SQLWrapper): SQL {
  return sql`${number} + 0`;
}
