// Sums amounts without overflow: a sum over all accounts may exceed 64 bits, on which SQLite's own
// `sum` fails. Adds quotients and remainders apart, in SQL that both databases know.

import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type Micro, micro } from '../core/money.ts';

const HALF = 1_000_000_000n;

/** The sum of a group, 0 for no rows. A raw row has it as a text for `readWideSum`. */
export function wideSum(amount: SQLWrapper): SQL<Micro> {
  const half = sql.raw(String(HALF));
  const text = (part: SQL) => sql`cast(coalesce(sum(${part}), 0) as text)`;
  return sql`${text(sql`${amount} / ${half}`)} || ' ' || ${text(sql`${amount} % ${half}`)}`.mapWith(
    readWideSum,
  );
}

export function readWideSum(text: unknown): Micro {
  const [high = '0', low = '0'] = String(text).split(' ');
  return micro(BigInt(high) * HALF + BigInt(low));
}
