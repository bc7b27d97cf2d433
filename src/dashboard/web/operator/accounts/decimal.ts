// Adds amounts as the server writes them: decimal strings of at most six places, never floats.

const PLACES = 6;
const SHAPE = /^([+-]?)(\d{1,18})(?:\.(\d{1,6}))?$/;

/** The sum of two amounts; `undefined` where one of them is none. */
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
