// Exact money arithmetic. The ledger counts integers of 10⁻⁶ service token (`Micro`); prices are
// integers of 10⁻¹² service token per model token. Decimal strings are printed from the booked
// integer, without trailing zeros or exponents. No amount is ever a float.
//
// The compiler keeps the units apart, and a plain bigint has none. A number gets its unit where it
// enters (parsed text, a database row, a constant) or where units combine (usage times price);
// `add` and the other helpers preserve it. At run time all of them are plain bigints.

declare const unit: unique symbol;

type Money<Unit extends string> = bigint & { readonly [unit]: Unit };

/** An amount in 10⁻⁶ service token. */
export type Micro = Money<'micro'>;

/** A price in 10⁻¹² service token per model token. */
export type Pico = Money<'pico'>;

export const MICRO_DECIMALS = 6;
export const PICO_DECIMALS = 12;

/** A count of model tokens that decides what is reserved or claimed. */
export type Tokens = number & { readonly [unit]: 'tokens' };

/** The price of a million service tokens, in 10⁻⁶ USD. */
export type UsdRate = Money<'usdRate'>;

export const micro = (value: bigint) => value as Micro;
export const pico = (value: bigint) => value as Pico;
export const usdRate = (value: bigint) => value as UsdRate;
export const tokenCount = (value: number) => value as Tokens;

export const ZERO = micro(0n);

export const add = (a: Micro, b: Micro) => micro(a + b);
export const subtract = (a: Micro, b: Micro) => micro(a - b);
export const negate = (amount: Micro) => micro(-amount);
export const smaller = <U extends Micro | Pico | Tokens>(a: U, b: NoInfer<U>) => (a < b ? a : b);
export const larger = <U extends Micro | Pico | Tokens>(a: U, b: NoInfer<U>) => (a > b ? a : b);

/** The largest accepted amount: 10¹² service tokens, well within 64 bits. */
export const AMOUNT_MAX = micro(10n ** 18n);

/** Prints `value` × 10^-decimals exactly: `formatDecimal(1500000n, 6)` is `"1.5"`. */
export function formatDecimal(value: bigint, decimals: number): string {
  // Fast path: a double keeps 15 digits, and prints with an exponent only below 10⁻⁶.
  const number = Number(value);
  if (decimals <= 6 && Math.abs(number) < 1e15) return String(number / 10 ** decimals);
  const negative = value < 0n;
  const size = Number.isSafeInteger(number) ? Math.abs(number) : negative ? -value : value;
  const digits = String(size).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  let end = digits.length;
  while (end > whole.length && digits.charCodeAt(end - 1) === 48) end -= 1;
  const fraction = digits.slice(whole.length, end);
  const text = fraction === '' ? whole : `${whole}.${fraction}`;
  return negative ? `-${text}` : text;
}

/**
 * Reads a plain decimal such as `"0.15"` into an integer of 10^-decimals. `undefined` if the text
 * is not a plain decimal or has more decimals than fit: input amounts are never rounded.
 */
export function parseDecimal(text: string, decimals: number): bigint | undefined {
  if (!/^-?\d{1,18}(?:\.\d{1,18})?$/.test(text)) return undefined;
  const read = readNumber(text, decimals);
  return read?.isExact === true ? read.value : undefined;
}

const NUMBER = /^([+-]?)(\d{1,400})(?:\.(\d{0,400}))?(?:[eE]([+-]?\d{1,5}))?$/;

/** Larger numbers are no amounts, and would fill the memory with zeros. */
const WHOLE_DIGITS_MAX = 60;

/**
 * Reads a number of a vendor's file, such as `2.5e-07`, into an integer of 10^-decimals, rounded half
 * away from zero. `undefined` where the text is not a number, or has too many digits.
 */
export function readNumber(text: string, decimals: number) {
  const [all, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (all === undefined) return undefined;
  const digits = BigInt(whole + fraction);
  const shift = digits === 0n ? 0 : decimals + Number(exponent) - fraction.length;
  if (shift > WHOLE_DIGITS_MAX) return undefined;
  const unit = 10n ** BigInt(Math.max(-shift, 0));
  const value = (digits * 10n ** BigInt(Math.max(shift, 0)) + unit / 2n) / unit;
  return { value: sign === '-' ? -value : value, isExact: digits % unit === 0n };
}

/** An amount in service tokens, as all formats print it. */
export function formatTokens(amount: Micro): string {
  return formatDecimal(amount, MICRO_DECIMALS);
}

/** The same amount in USD. The product of the two integers is exact, so nothing is rounded. */
export function formatUsd(amount: Micro, usdPerMillion: UsdRate): string {
  return formatDecimal(amount * usdPerMillion, 18);
}
