// Compares one cell of the bill with the books, and names the likely causes of a difference.

import { formatDecimal } from '../../core/money.ts';
import { type BillCell, type Side, TOKENS, type TokenKind } from './cells.ts';

export type Compared = BillCell & {
  /** The bill less the books, in 10⁻¹⁸ USD; undefined where the export has no amount for it. */
  readonly difference: bigint | undefined;
  readonly isWithin: boolean;
  readonly causes: readonly { readonly code: string; readonly text: string }[];
};

/** 100 % in the unit of a tolerance, which is 10⁻⁴ of a percent. */
const WHOLE = 1_000_000n;

/** Consoles round each row to cents: half a cent is no difference. */
const ROW_ROUNDING = 5n * 10n ** 15n;

/** The smallest prompt at which vendors raise a price (Anthropic, Google; OpenAI from 272,000). */
export const LONG_PROMPT = 200_000;

export function compare(cell: BillCell, tolerance: bigint): Compared {
  const { vendor, books } = cell;
  const [bill, cost] = [vendor === undefined ? 0n : vendor.usd, books?.usd ?? 0n];
  const difference = bill === undefined ? undefined : bill - cost;
  const rounding = ROW_ROUNDING * BigInt(vendor?.rows ?? 1);
  const exceeds = (a: bigint, b: bigint, allowed = 0n) =>
    magnitude(a - b) > allowed && magnitude(a - b) * WHOLE > (a > b ? a : b) * tolerance;
  const kinds = TOKENS.filter((kind) => {
    const billed = vendor?.tokens[kind];
    return billed !== undefined && exceeds(BigInt(billed), BigInt(books?.tokens[kind] ?? 0));
  });
  // Equal sums say nothing while costs are missing.
  const isWithin =
    bill === undefined
      ? kinds.length === 0
      : !exceeds(bill, cost, rounding) && !books?.marks['no_cost'];
  const reported = books?.reported;
  const isReported =
    bill !== undefined && reported !== undefined && !exceeds(bill, reported, rounding);
  const causes = isWithin ? [] : causesOf(cell, kinds, isReported);
  return { ...cell, difference, isWithin, causes };
}

type Rule = readonly [applies: boolean, code: string, text: string];

function causesOf(
  cell: BillCell,
  kinds: readonly TokenKind[],
  isReported: boolean,
): Compared['causes'] {
  const { vendor, books } = cell;
  const text = 'What the answers reported agrees with the bill: correct the cost in served_by.';
  const rules: Rule[] = [[isReported, 'catalog_cost', text], ...rulesOf(cell)];
  const found = rules.filter(([applies]) => applies);
  const words = kinds.map((kind) => {
    return `${kind} ${vendor?.tokens[kind]} billed, ${books?.tokens[kind] ?? 0} booked`;
  });
  const last: Rule =
    words.length > 0
      ? [true, 'counts', `The tokens differ: ${words.join('; ')}.`]
      : [
          true,
          'price',
          `No tokens explain it, but a price may: the bill is ${ratio(vendor, books)} times the cost.`,
        ];
  return (found.length > 0 ? found : [last]).map(([, code, text]) => ({ code, text }));
}

function rulesOf({ vendor, books, model }: BillCell): Rule[] {
  if (vendor === undefined) {
    return [[true, 'not_billed', 'The export lacks it. Check its days, project and workspace.']];
  }
  const marks = Object.keys(vendor.marks);
  if (books === undefined) {
    return model === '' && marks.length > 0
      ? [[true, 'other_item', `Billed without a model: ${marks.join(', ')}.`]]
      : [[true, 'not_ours', 'The books have no such call: another program uses the key.']];
  }
  const { no_cost = 0, estimated = 0, cancelled = 0, uncounted = 0, long = 0 } = books.marks;
  const [written, reported] = [vendor.tokens.cache_write ?? 0, books.tokens.cache_write ?? 0];
  const foreign = (vendor.requests ?? 0) - (books.requests ?? 0);
  const isLong = (word: string) => /200k|long/i.test(word);
  const others = marks.filter((word) => !isLong(word) && word !== 'byok').join(', ');
  const rule = (applies: boolean, code: string, text: string): Rule => [applies, code, text];
  const cache = `Cache-write tokens: ${written} billed, ${reported} reported by the answers.`;
  const own = `Calls without a report: ${estimated}, of which the client left ${cancelled}. Their cost is by our own count.`;
  return [
    rule(no_cost > 0, 'no_cost', `Calls without a cost: ${no_cost}. Add it in served_by.`),
    rule(written > reported, 'cache_write', cache),
    rule(foreign > 0, 'not_ours', `Requests that the books lack: ${foreign}.`),
    rule(estimated > 0, 'estimated', own),
    rule(uncounted > 0, 'uncounted', `Calls that failed before any count: ${uncounted}.`),
    rule(
      long > 0 || marks.some(isLong),
      'tier',
      `Prompts above ${LONG_PROMPT} tokens, where prices may rise: ${long}.`,
    ),
    rule(others !== '', 'service_tier', `Billed in part as ${others}, at other prices.`),
  ];
}

/** Rounded to three decimals. */
function ratio(vendor: Side | undefined, books: Side | undefined): string {
  const [bill, cost] = [vendor?.usd ?? 0n, books?.usd ?? 0n];
  return cost === 0n ? 'many' : formatDecimal(((bill * 2_000n) / cost + 1n) / 2n, 3);
}

const magnitude = (value: bigint) => (value < 0n ? -value : value);
