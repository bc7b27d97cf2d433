// Writes amounts of money in the notation of the page's language. Decimal strings in, text out: no
// digit is lost to a float.

import { locale } from '../text/t.ts';
import { groupDigits, MINUS, POINT, roundDecimal } from './format.ts';
import { multiply } from './money.ts';

/** How the pages show money; see `[service.currency]` of the catalog. */
export type CurrencyFormat = {
  /** ISO 4217. */
  readonly code: string;
  /** Units of it for one USD, as a decimal. */
  readonly perUsd: string;
  /** The language of numbers, such as `en-GB`. */
  readonly locale: string;
};

/**
 * table   four places, so that a column of amounts lines up
 * hero    two places, for the figures of a page
 * axis    as few as tell the ticks of a chart apart
 * exact   every digit, at least two places
 */
export type Detail = 'table' | 'hero' | 'axis' | 'exact';

const PLACES = { table: 4, hero: 2 } as const;
const TOKEN_PLACES = { table: 2, hero: 0 } as const;

/** USD in the currency of the pages. What is not zero never looks like zero: `<$0.01`. */
export function formatCurrency(usd: string, detail: Detail, format: CurrencyFormat): string {
  const amount = multiply(usd, format.perUsd);
  if (amount === undefined) return usd;
  const { before, after } = symbolOf(format);
  if (detail === 'exact') return fixed(amount, undefined, before, after);
  if (detail === 'axis')
    return fixed(roundDecimal(amount, ticksOf(amount)), undefined, before, after);
  return fixed(amount, PLACES[detail], before, after);
}

/** Cents, and more places only below ten cents. */
function ticksOf(amount: string): number {
  return /^-?0(\.0|$)/.test(amount) ? 6 : 2;
}

/** USD with every digit, for amounts that are entered in USD. */
export function formatUsdExact(usd: string): string {
  return formatCurrency(usd, 'exact', { code: 'USD', perUsd: '1', locale });
}

/** Service tokens without their name. */
export function formatServiceTokens(tokens: string, detail: Detail): string {
  if (detail === 'exact') return groupDigits(tokens);
  if (detail === 'axis') return groupDigits(roundDecimal(tokens, 2));
  return fixed(tokens, TOKEN_PLACES[detail], '', '');
}

function fixed(amount: string, places: number | undefined, before: string, after: string): string {
  const sign = amount.startsWith('-') ? MINUS : '';
  const size = amount.replace(/^-/, '');
  if (places === undefined) return `${sign}${before}${padded(size, 2)}${after}`;
  const rounded = roundDecimal(size, places);
  if (rounded === '0' && /[1-9]/.test(size)) {
    const least = places === 0 ? '1' : `0.${'1'.padStart(places, '0')}`;
    return `${sign}<${before}${padded(least, places)}${after}`;
  }
  return `${rounded === '0' ? '' : sign}${before}${padded(rounded, places)}${after}`;
}

/** Grouped, with at least `places` decimals. */
function padded(size: string, places: number): string {
  const [whole = '', fraction = ''] = size.split('.');
  const digits = fraction.padEnd(places, '0');
  return digits === '' ? groupDigits(whole) : `${groupDigits(whole)}${POINT}${digits}`;
}

/** Where the language puts the symbol, which depends on neither amount nor sign. */
function symbolOf({ code, locale }: CurrencyFormat): {
  readonly before: string;
  readonly after: string;
} {
  const parts = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: code,
    currencyDisplay: 'narrowSymbol',
  }).formatToParts(1);
  const number = parts.findIndex(({ type }) => type === 'integer');
  const isNumber = ({ type }: Intl.NumberFormatPart) => /integer|group|decimal|fraction/.test(type);
  const text = (some: readonly Intl.NumberFormatPart[]) =>
    some
      .filter((part) => !isNumber(part))
      .map(({ value }) => value)
      .join('');
  return { before: text(parts.slice(0, number)), after: text(parts.slice(number)) };
}
