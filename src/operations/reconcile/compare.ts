// Adds up what the vendor bills and what the books have, by day, model and key, compares both, and
// names the likely causes of a difference. Memory grows with the sums, not with calls.

import { isoTime } from '../../core/calendar.ts';
import { formatDecimal } from '../../core/money.ts';

const TOKENS = ['input', 'cached_input', 'cache_write', 'output'] as const;

/**
 * `usd` and `reported`, what answers said that they cost, are in 10⁻¹⁸ USD, in which bills and books are
 * exact. Cache reads and writes are parts of the input. `no_cost`, `estimated` and `long` count calls of
 * the books: without a cost, without reported tokens, with a long prompt. What no row has is absent.
 */
export type BillSums = { [Name in (typeof TOKENS)[number] | OtherSum]?: bigint | undefined };

type OtherSum = 'rows' | 'requests' | 'usd' | 'reported' | 'no_cost' | 'estimated' | 'long';

/** One row of a bill, or one call in the books. */
export type Entry = {
  readonly atMs: number;
  /** The vendor's name of the model; empty where an export is not grouped by it. */
  readonly model: string;
  /** The credential, or the vendor's name of a key that is not mapped. Empty: not compared. */
  readonly key: string;
  readonly sums: BillSums;
};

type Cell = {
  readonly place: { readonly day: string; readonly model: string; readonly key: string };
  vendor?: BillSums;
  books?: BillSums;
};

export class Cells {
  readonly #cells = new Map<string, Cell>();

  add(name: 'vendor' | 'books', { atMs, model, key, sums }: Entry): void {
    const day = isoTime(atMs).slice(0, 10);
    const id = JSON.stringify([day, modelKey(model), key]);
    const cell: Cell = this.#cells.get(id) ?? { place: { day, model, key } };
    this.#cells.set(id, cell);
    cell[name] ??= {};
    for (const [sum, value] of Object.entries(sums) as [keyof BillSums, bigint?][]) {
      if (value !== undefined) cell[name][sum] = (cell[name][sum] ?? 0n) + value;
    }
  }

  /** By day, then model and key. `tolerance` is in 10⁻⁴ of a percent. */
  compare(tolerance: bigint) {
    const sorted = [...this.#cells].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const cells = sorted.map(([, cell]) => cell);
    // Without those whose amount is not exported.
    const priced = cells.filter(({ vendor }) => vendor === undefined || vendor.usd !== undefined);
    const sumOf = (name: 'vendor' | 'books') =>
      priced.reduce((sum, cell) => sum + (cell[name]?.usd ?? 0n), 0n);
    const [vendor, books] = [sumOf('vendor'), sumOf('books')];
    const rows = cells.map((cell) => compareCell(cell, tolerance));
    const causes = new Set(rows.flatMap((row) => row.causes));
    return {
      totals: { vendor: usd(vendor), books: usd(books), difference: usd(vendor - books) },
      rows,
      causes: Object.fromEntries([...causes].map((cause) => [cause, CAUSES[cause]])),
    };
  }
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
  const numbers = parts.filter((part) => /^\d+$/.test(part));
  return [...parts.filter((part) => !/^\d+$/.test(part)).toSorted(), ...numbers].join(' ');
}

/** The smallest prompt at which vendors raise a price (Anthropic, Google; OpenAI from 272,000). */
export const LONG_PROMPT = 200_000;

/** What explains a difference, where nothing before it does: `counts`, else `price`. */
const CAUSES = {
  missing: 'One side lacks calls: another program uses the key, or the export is not complete.',
  catalog_cost: 'The cost in served_by is missing, or the answers reported the amount of the bill.',
  cache_write: 'The vendor bills more cache writes than its answers reported.',
  estimated: 'Calls failed or were left early, and the vendor reported no tokens.',
  tier: `Prompts have more than ${LONG_PROMPT} tokens, where prices may rise.`,
  counts: 'The tokens differ, for no reason that the books know.',
  price: 'Amounts differ and no tokens do: another service tier, or a price that has changed.',
} as const;

type Cause = keyof typeof CAUSES;

/** 100 % in the unit of a tolerance. */
const WHOLE = 1_000_000n;

/** Consoles round each row to cents: half a cent is no difference. */
const ROW_ROUNDING = 5n * 10n ** 15n;

function compareCell({ place, vendor, books }: Cell, tolerance: bigint) {
  const { usd: bill, rows = 1n } = vendor ?? { usd: 0n };
  const { usd: cost = 0n, reported, no_cost, estimated, long } = books ?? {};
  const exceeds = (a: bigint, b: bigint, allowed: bigint) => {
    const difference = a > b ? a - b : b - a;
    return difference > allowed && difference * WHOLE > (a > b ? a : b) * tolerance;
  };
  const isBill = (amount: bigint) =>
    bill !== undefined && !exceeds(bill, amount, ROW_ROUNDING * rows);
  const differs = (name: keyof BillSums) =>
    vendor?.[name] !== undefined && exceeds(vendor[name], books?.[name] ?? 0n, 0n);
  const isMore = (name: keyof BillSums) => (vendor?.[name] ?? 0n) > (books?.[name] ?? 0n);
  // Equal sums say nothing while costs are missing.
  const ok = bill === undefined ? !TOKENS.some(differs) : isBill(cost) && no_cost === undefined;
  const isBoth = vendor !== undefined && books !== undefined;
  const known = [
    [!isBoth || isMore('requests'), 'missing'],
    [no_cost !== undefined || (reported !== undefined && isBill(reported)), 'catalog_cost'],
    [isBoth && isMore('cache_write'), 'cache_write'],
    [estimated !== undefined, 'estimated'],
    [isBoth && long !== undefined, 'tier'],
  ] as const;
  const found = known.flatMap(([applies, cause]): Cause[] => (applies && !ok ? [cause] : []));
  const last: Cause = TOKENS.some(differs) ? 'counts' : 'price';
  return {
    ...place,
    ok,
    vendor: record(vendor),
    books: record(books),
    difference_usd: bill === undefined ? null : usd(bill - cost),
    causes: ok || found.length > 0 ? found : [last],
  };
}

function record(sums: BillSums | undefined): { [Name in keyof BillSums]: string | number } | null {
  if (sums === undefined) return null;
  const members = Object.entries(sums).map(([name, value]) => {
    return [name, name === 'usd' || name === 'reported' ? usd(value ?? 0n) : Number(value)];
  });
  return Object.fromEntries(members);
}

const usd = (amount: bigint) => formatDecimal(amount, 18);
