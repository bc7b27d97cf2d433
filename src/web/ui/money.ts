// Exact arithmetic with decimal strings: amounts in service tokens and in USD, and prices in both.
// No amount becomes a float.

type Decimal = { readonly digits: bigint; readonly places: number };

const SHAPE = /^([+-]?)(\d+)(?:\.(\d+))?$/;

function read(text: string): Decimal | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  const digits = BigInt(whole + fraction);
  return { digits: sign === '-' ? -digits : digits, places: fraction.length };
}

/** Without trailing zeros, as the server prints amounts. */
function write({ digits, places }: Decimal): string {
  const size = (digits < 0n ? -digits : digits).toString().padStart(places + 1, '0');
  const end = size.length - places;
  const fraction = size.slice(end).replace(/0+$/, '');
  const text = fraction === '' ? size.slice(0, end) : `${size.slice(0, end)}.${fraction}`;
  return digits < 0n ? `-${text}` : text;
}

const tenTo = (places: number) => 10n ** BigInt(places);

/** The product, exactly. `undefined` if one is no decimal. */
export function multiply(one: string, other: string): string | undefined {
  const a = read(one);
  const b = read(other);
  return a && b && write({ digits: a.digits * b.digits, places: a.places + b.places });
}

/** The sum, exactly. `undefined` if one is no decimal. */
export function addAmounts(one: string, other: string): string | undefined {
  const a = read(one.trim());
  const b = read(other.trim());
  if (a === undefined || b === undefined) return undefined;
  const places = Math.max(a.places, b.places);
  const scaled = ({ digits, places: own }: Decimal) => digits * tenTo(places - own);
  return write({ digits: scaled(a) + scaled(b), places });
}

/** `one / other` with `places` decimals, toward zero, and whether nothing was cut off. */
export function divide(
  one: string,
  other: string,
  places: number,
): { readonly quotient: string; readonly isExact: boolean } | undefined {
  const a = read(one);
  const b = read(other);
  if (a === undefined || b === undefined || b.digits === 0n) return undefined;
  const dividend = a.digits * tenTo(places + b.places);
  const divisor = b.digits * tenTo(a.places);
  return {
    quotient: write({ digits: dividend / divisor, places }),
    isExact: dividend % divisor === 0n,
  };
}

/**
 * Two units of one thing: `base` is what the server counts, with at most `places` decimals; one of
 * it costs `usd` USD.
 */
export type UnitPair = { readonly usd: string; readonly places: number };

/** An amount of service tokens, which the books count in millionths. */
export function amountUnits(usdPerMillion: string): UnitPair {
  return { usd: multiply(usdPerMillion, '0.000001') ?? '0', places: 6 };
}

/**
 * A price in service tokens per model token. Its USD are those per million model tokens: both
 * millions cancel out.
 */
export function priceUnits(usdPerMillion: string): UnitPair {
  return { usd: usdPerMillion, places: 12 };
}

export function toUsd(base: string, { usd }: UnitPair): string | undefined {
  return multiply(base, usd);
}

/** `nearest` is the next smaller amount that can be booked, in USD. */
export function fromUsd(
  usd: string,
  units: UnitPair,
): { readonly base: string; readonly isExact: boolean; readonly nearest: string } | undefined {
  const divided = divide(usd, units.usd, units.places);
  if (divided === undefined) return undefined;
  const { quotient: base, isExact } = divided;
  return { base, isExact, nearest: toUsd(base, units) ?? '0' };
}

/** Whether the server takes it: a decimal with at most `places` decimals. */
export function fitsPlaces(base: string, { places }: UnitPair): boolean {
  const value = read(base);
  return value !== undefined && divide(base, '1', places)?.isExact === true;
}

/**
 * What was typed as a plain decimal: without separators of groups, with a point. A separator that
 * could mean both, such as the comma in `1,5` of English, stays, so that the amount is rejected
 * instead of read tenfold. `point` is the decimal separator of the page's language.
 */
export function plainAmount(typed: string, point: '.' | ',' = '.'): string {
  const text = typed.trim().replace(/^[\u2212\u2013]/, '-');
  if (point === ',') return plainComma(text);
  return GROUPED.test(text) ? text.replace(/[,_'\s]/g, '') : text;
}

/** Grouped thousands: three digits each, with the same separator. */
const GROUPED = /^([+-]?)([1-9]\d{0,2}(?:([,_'\s])\d{3})(?:\3\d{3})*)(\.\d+)?$/;
const GROUPED_COMMA = /^([+-]?)([1-9]\d{0,2}(?:([._'\s])\d{3})(?:\3\d{3})*)(,\d+)?$/;

function plainComma(text: string): string {
  if (GROUPED_COMMA.test(text)) return text.replace(/[._'\s]/g, '').replace(',', '.');
  return /^[+-]?\d+,\d+$/.test(text) ? text.replace(',', '.') : text;
}
