// Writes amounts of money in the notation of the page's language. Decimal strings in, text out: no
// digit is lost to a float.

import { locale } from '../text/t.ts';
import { groupDigits, MINUS, POINT, roundDecimal } from './format.ts';
import { addAmounts, multiply } from './money.ts';

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
 * figure  two places from 1, four significant digits below
 * ledger  six places, so that the rows of a ledger add up
 * axis    as few as tell the ticks of a chart apart
 * exact   every digit, at least two places
 */
export type Detail = 'figure' | 'ledger' | 'axis' | 'exact';

const LEDGER_PLACES = 6;
/** Fractions of a service token are too small to be shown beside thousands of them. */
const WHOLE_TOKENS_FROM = 4;

/** USD in the currency of the pages. */
export function formatCurrency(usd: string, detail: Detail, format: CurrencyFormat): string {
  const amount = multiply(usd, format.perUsd);
  if (amount === undefined) return usd;
  const places = detail === 'axis' ? ticksOf(amount) : placesOf(amount, detail);
  return write(amount, places, detail === 'ledger' ? LEDGER_PLACES : 2, symbolOf(format));
}

/**
 * An amount of a ledger: the difference of the balances before and after it as they are shown. It is
 * at most one unit of the last place off the rounded amount.
 */
export function formatMovement(usd: string, usdAfter: string, format: CurrencyFormat): string {
  const shown = (balance: string | undefined) =>
    roundDecimal(multiply(balance ?? '', format.perUsd) ?? '', LEDGER_PLACES);
  const before = addAmounts(usdAfter, multiply(usd, '-1') ?? '');
  const moved = addAmounts(shown(usdAfter), multiply(shown(before), '-1') ?? '');
  if (moved === undefined) return usd;
  const sign = moved === '0' && usd.startsWith('-') ? '-' : '';
  return write(`${sign}${moved}`, LEDGER_PLACES, LEDGER_PLACES, symbolOf(format));
}

/** Cents, and more places only below ten cents. */
function ticksOf(amount: string): number {
  return /^-?0(\.0|$)/.test(amount) ? 6 : 2;
}

function placesOf(amount: string, detail: Exclude<Detail, 'axis'>): number | undefined {
  if (detail === 'exact') return undefined;
  if (detail === 'ledger') return LEDGER_PLACES;
  const zeros = /^-?0\.(0*)/.exec(amount)?.[1];
  return zeros === undefined ? 2 : zeros.length + 4;
}

/** USD with every digit, for amounts that are entered in USD. */
export function formatUsdExact(usd: string): string {
  return formatCurrency(usd, 'exact', { code: 'USD', perUsd: '1', locale });
}

/** Service tokens without their name. */
export function formatServiceTokens(tokens: string, detail: Detail): string {
  if (detail === 'axis') return groupDigits(roundDecimal(tokens, 2));
  const whole = tokens.replace(/^-|\..*/g, '').length >= WHOLE_TOKENS_FROM;
  const places = detail === 'figure' && whole ? 0 : placesOf(tokens, detail);
  return write(tokens, places, detail === 'ledger' ? LEDGER_PLACES : 0, { before: '', after: '' });
}

/** Rounded to `places`, if any, with at least `least` decimals. What rounds to zero keeps its sign. */
function write(
  amount: string,
  places: number | undefined,
  least: number,
  { before, after }: Symbols,
): string {
  const sign = amount.startsWith('-') ? MINUS : '';
  const size = amount.replace(/^-/, '');
  const [whole = '', fraction = ''] = (
    places === undefined ? size : roundDecimal(size, places)
  ).split('.');
  const digits = fraction.padEnd(least, '0');
  const number = digits === '' ? groupDigits(whole) : `${groupDigits(whole)}${POINT}${digits}`;
  return `${sign}${before}${number}${after}`;
}

type Symbols = { readonly before: string; readonly after: string };

/** Where the language puts the symbol, which depends on neither amount nor sign. */
function symbolOf({ code, locale }: CurrencyFormat): Symbols {
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
