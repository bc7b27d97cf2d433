// Cells that may not hold yet, with what is missing.

import type { Result } from './table.ts';

type Known = {
  readonly rows: RegExp;
  readonly cases: RegExp;
  readonly formats?: RegExp;
  readonly missing: string;
};

export const KNOWN: readonly Known[] = [];

/** Whether an entry is about a cell. */
export function fits(
  { rows, cases, formats = /./ }: Known,
  { row, name, format }: Result,
): boolean {
  return rows.test(row) && cases.test(name) && formats.test(format);
}

/** Whether a cell is known not to hold. */
export function isKnown(result: Result): boolean {
  return KNOWN.some((known) => fits(known, result));
}
