// Adds up what the vendor bills and what the books have, by day, model and key. Memory grows with
// these cells, not with calls.

import { isoTime } from '../../core/calendar.ts';

export const TOKENS = ['input', 'cached_input', 'cache_write', 'output'] as const;
export type TokenKind = (typeof TOKENS)[number];

/** Cache reads and writes are parts of the input. Absent where not exported. */
type Tokens = { [Kind in TokenKind]?: number | undefined };

/** One row of a bill, or one call in the books. */
export type Entry = {
  readonly atMs: number;
  /** The vendor's name of the model; empty where an export is not grouped by it. */
  readonly model: string;
  /** The credential, or the vendor's name of a key that is not mapped. Empty: not compared. */
  readonly key: string;
  readonly requests?: number | undefined;
  /** In 10⁻¹⁸ USD, in which bills and books are exact. */
  readonly usd?: bigint | undefined;
  /** What the answer itself said that it costs. */
  readonly reported?: bigint | undefined;
  readonly tokens: Readonly<Tokens>;
  /** What may explain a difference, such as `priority` in a bill. */
  readonly marks: readonly string[];
};

/** The sum of entries. What no entry has is absent. */
export type Side = {
  rows: number;
  requests?: number | undefined;
  usd?: bigint | undefined;
  reported?: bigint | undefined;
  readonly tokens: Tokens;
  /** The number of entries with each. */
  readonly marks: Record<string, number>;
};

export type BillCell = {
  readonly day: string;
  readonly model: string;
  readonly key: string;
  vendor?: Side;
  books?: Side;
};

export class Cells {
  readonly #cells = new Map<string, BillCell>();
  /** Otherwise days are compared. */
  byModel = false;

  /** By day, then model and key. */
  sorted(): BillCell[] {
    return [...this.#cells].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell);
  }

  add(name: 'vendor' | 'books', entry: Entry): void {
    const day = isoTime(entry.atMs).slice(0, 10);
    const model = this.byModel ? entry.model : '';
    const place = JSON.stringify([day, modelKey(model), entry.key]);
    const cell = this.#cells.get(place) ?? { day, model, key: entry.key };
    this.#cells.set(place, cell);
    cell[name] ??= { rows: 0, tokens: {}, marks: {} };
    const side = cell[name];
    side.rows += 1;
    side.requests = sum(side.requests, entry.requests);
    if (entry.usd !== undefined) side.usd = (side.usd ?? 0n) + entry.usd;
    if (entry.reported !== undefined) side.reported = (side.reported ?? 0n) + entry.reported;
    for (const kind of TOKENS) side.tokens[kind] = sum(side.tokens[kind], entry.tokens[kind]);
    for (const mark of entry.marks) side.marks[mark] = (side.marks[mark] ?? 0) + 1;
  }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return b === undefined ? a : (a ?? 0) + b;
}

/**
 * Words in any order, then numbers in theirs, without the date of a snapshot: `Claude Sonnet 4.5`,
 * `claude-sonnet-4-5-20250929` and `claude-4.5-sonnet` are the same in one vendor's own files.
 */
export function modelKey(name: string): string {
  const parts = name
    .toLowerCase()
    .replace(/:[a-z]+$/, '')
    .replace(/[-@ ](?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest)$/, '')
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  const isNumber = (part: string) => /^\d+$/.test(part);
  return [...parts.filter((part) => !isNumber(part)).toSorted(), ...parts.filter(isNumber)].join(
    ' ',
  );
}
