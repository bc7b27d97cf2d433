// Translates the SQL of Drizzle's SQLite builder to PostgreSQL: numbers the parameters, fills
// columns that the database numbers, and drops the table from the columns of a conflict clause,
// which PostgreSQL rejects. Cached by text.

import { NEXT_NUMBER } from '../columns.ts';

/** Texts vary with the length of a list; more than these are not worth their memory. */
const KNOWN_MAX = 2_000;

const CONFLICT = / on conflict \([^)]*\)/;

const known = new Map<string, string>();

/** Strings and quoted names stay as they are. */
export function toPostgres(text: string): string {
  const found = known.get(text);
  if (found !== undefined) return found;
  let count = 0;
  const numbered = text.replaceAll(/'[^']*'|"[^"]*"|null \/\* next number \*\/|\?/g, (part) => {
    if (part === '?') {
      count += 1;
      return `$${count}`;
    }
    return part === NEXT_NUMBER ? 'default' : part;
  });
  if (known.size >= KNOWN_MAX) known.clear();
  const portable = numbered.replace(CONFLICT, (target) => target.replaceAll(/"[^"]+"\./g, ''));
  known.set(text, portable);
  return portable;
}
