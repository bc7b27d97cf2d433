// Every law that the records of a round are checked against.

import { type Books, joinBooks } from '../books.ts';
import { ENDING_LAWS } from './endings.ts';
import { KEYED_LAWS } from './keyed.ts';
import type { Law, Violation } from './law.ts';
import { LIMIT_LAWS } from './limits.ts';
import { MONEY_LAWS } from './money.ts';
import { RECOVERY_LAWS } from './recovery.ts';

export const LAWS: readonly Law[] = [
  ...MONEY_LAWS,
  ...RECOVERY_LAWS,
  ...ENDING_LAWS,
  ...LIMIT_LAWS,
  ...KEYED_LAWS,
];

export function judge(books: Books): readonly Violation[] {
  const stories = joinBooks(books);
  return LAWS.flatMap(({ name, breaches }) =>
    breaches(books, stories).map((breach) => ({ law: name, ...breach })),
  );
}
