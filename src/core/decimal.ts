// Reads numbers of other people's files exactly: JSON's and CSV's notation with exponents, such as
// `2.5e-07`. No float is involved.

const NUMBER = /^([+-]?)(\d{1,400})(?:\.(\d{0,400}))?(?:[eE]([+-]?\d{1,5}))?$/;

/** Larger numbers are no amounts, and would fill the memory with zeros. */
const WHOLE_DIGITS_MAX = 60;

export type ReadDecimal = {
  /** An integer of 10^-decimals, rounded half away from zero. */
  readonly value: bigint;
  readonly isExact: boolean;
};

/** `undefined` where the text is not a number, or has too many digits. */
export function readDecimal(text: string, decimals: number): ReadDecimal | undefined {
  const [all, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (all === undefined) return undefined;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return { value: 0n, isExact: true };
  const shift = decimals + Number(exponent) - fraction.length;
  if (shift > WHOLE_DIGITS_MAX) return undefined;
  const signed = (value: bigint) => (sign === '-' ? -value : value);
  if (shift >= 0) return { value: signed(digits * 10n ** BigInt(shift)), isExact: true };
  const unit = 10n ** BigInt(-shift);
  return { value: signed((digits + unit / 2n) / unit), isExact: digits % unit === 0n };
}
