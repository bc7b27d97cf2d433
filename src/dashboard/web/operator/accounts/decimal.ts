// Amounts of service tokens in the browser: parses typed amounts and adds decimal strings of at most
// six places. Never uses floats.

const PLACES = 6;
const SHAPE = /^([+-]?)(\d{1,18})(?:\.(\d{1,6}))?$/;

/** Grouped thousands: three digits each, with the same separator. */
const GROUPED = /^([+-]?)(\d{1,3}(?:([,_'\s])\d{3})(?:\3\d{3})*)(\.\d+)?$/;

/**
 * Removes grouping separators. A comma that groups nothing, as in `1,5`, stays, so that the server
 * rejects the amount instead of reading it tenfold.
 */
export function plainAmount(typed: string): string {
  const text = typed.trim().replace(/^[\u2212\u2013]/, '-');
  return GROUPED.test(text) ? text.replace(/[,_'\s]/g, '') : text;
}

/** The sum of two amounts; `undefined` if one is invalid. */
export function addAmounts(one: string, other: string): string | undefined {
  const a = read(one);
  const b = read(other);
  return a === undefined || b === undefined ? undefined : write(a + b);
}

function read(text: string): bigint | undefined {
  const match = SHAPE.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  const size = BigInt(`${whole}${fraction.padEnd(PLACES, '0')}`);
  return sign === '-' ? -size : size;
}

function write(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(PLACES + 1, '0');
  const fraction = digits.slice(-PLACES).replace(/0+$/, '');
  const text = `${digits.slice(0, -PLACES)}${fraction === '' ? '' : `.${fraction}`}`;
  return value < 0n ? `-${text}` : text;
}
