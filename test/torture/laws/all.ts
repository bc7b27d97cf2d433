// Every law that the books of a round are held against.

import type { Books } from '../books.ts';
import { joinBooks } from '../books.ts';
import { ENDING_LAWS } from './endings.ts';
import type { Violation } from './law.ts';
import { LIMIT_LAWS } from './limits.ts';
import { MONEY_LAWS } from './money.ts';
import { RECOVERY_LAWS } from './recovery.ts';

export function judge(books: Books): readonly Violation[] {
  const stories = joinBooks(books);
  return [...MONEY_LAWS, ...RECOVERY_LAWS, ...ENDING_LAWS, ...LIMIT_LAWS].flatMap((law) =>
    law(books, stories),
  );
}
