// Turns the SQL of Drizzle's builder for SQLite into PostgreSQL's: parameters get numbers, a column
// that the database counts takes its next number, and the columns of a conflict lose their table,
// which PostgreSQL does not take there. Called for every statement, once a text.

import { NEXT_NUMBER } from '../columns.ts';

/** Texts differ by how many values a list has; more than these are not worth their memory. */
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
