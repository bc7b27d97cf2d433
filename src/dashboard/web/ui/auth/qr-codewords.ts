// The bytes of a QR code (ISO/IEC 18004): a text, its padding and its error correction by Reed and
// Solomon, in the order in which they are drawn. Level M, versions 1 to 20: room for 666 bytes.

/** By version, beginning with 1: error correction bytes a block, and blocks. */
const CORRECTION_BYTES = [
  10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26,
];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];

type Layout = { readonly version: number; readonly correction: number; readonly blocks: number };

export type Codewords = { readonly version: number; readonly bytes: readonly number[] };

/** Throws where the text is too long. */
export function encodeText(text: string): Codewords {
  const bytes = new TextEncoder().encode(text);
  const layout = layoutFor(bytes.length);
  return { version: layout.version, bytes: interleave(dataCodewords(bytes, layout), layout) };
}

function layoutFor(length: number): Layout {
  for (const [index, correction] of CORRECTION_BYTES.entries()) {
    const layout = { version: index + 1, correction, blocks: BLOCKS[index] ?? 1 };
    if (length <= dataCapacity(layout) - 2 - (layout.version < 10 ? 0 : 1)) return layout;
  }
  throw new RangeError('The text is too long for a QR code of version 20.');
}

/** Bytes in all: what the fixed patterns leave free. */
function totalCodewords(version: number): number {
  let modules = (16 * version + 128) * version + 64;
  if (version > 1) {
    const marks = Math.floor(version / 7) + 2;
    modules -= (25 * marks - 10) * marks - 55;
    if (version > 6) modules -= 36;
  }
  return Math.floor(modules / 8);
}

function dataCapacity({ version, correction, blocks }: Layout): number {
  return totalCodewords(version) - correction * blocks;
}

function dataCodewords(bytes: Uint8Array, layout: Layout): number[] {
  const capacity = dataCapacity(layout);
  const bits: number[] = [];
  const push = (value: number, length: number): void => {
    for (let bit = length - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1);
  };
  push(4, 4);
  push(bytes.length, layout.version < 10 ? 8 : 16);
  for (const byte of bytes) push(byte, 8);
  push(0, Math.min(4, capacity * 8 - bits.length));
  while (bits.length % 8 > 0) bits.push(0);
  const codewords: number[] = [];
  for (let at = 0; at < bits.length; at += 8) {
    codewords.push(bits.slice(at, at + 8).reduce((byte, bit) => byte * 2 + bit, 0));
  }
  for (let pad = 0xec; codewords.length < capacity; pad ^= 0xec ^ 0x11) codewords.push(pad);
  return codewords;
}

/** Multiplies in the field of 256 elements that the standard uses. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}

/** The coefficients of the generator polynomial, without the leading one. */
function generator(degree: number): number[] {
  let result = [...Array(degree - 1).fill(0), 1];
  for (let [step, root] = [0, 1]; step < degree; step += 1, root = multiply(root, 2)) {
    result = result.map((value, at) => multiply(value, root) ^ (result[at + 1] ?? 0));
  }
  return result;
}

/** Error correction by Reed and Solomon. */
function remainder(data: readonly number[], divisor: readonly number[]): number[] {
  let result: number[] = divisor.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ (result[0] ?? 0);
    result = divisor.map((value, at) => (result[at + 1] ?? 0) ^ multiply(value, factor));
  }
  return result;
}

/** Cuts the data into blocks, the shorter ones first, and mixes them with their correction. */
function interleave(data: readonly number[], layout: Layout): number[] {
  const { version, correction, blocks } = layout;
  const total = totalCodewords(version);
  const shortBlocks = blocks - (total % blocks);
  const shortLength = Math.floor(total / blocks) - correction;
  const divisor = generator(correction);
  const parts: number[][] = [];
  for (let [block, at] = [0, 0]; block < blocks; block += 1) {
    const length = shortLength + (block < shortBlocks ? 0 : 1);
    parts.push(data.slice(at, at + length));
    at += length;
  }
  const checks = parts.map((part) => remainder(part, divisor));
  const byColumn = (rows: readonly number[][], columns: number): number[] =>
    Array.from({ length: columns }, (_, column) => rows.flatMap((row) => row[column] ?? [])).flat();
  return [...byColumn(parts, shortLength + 1), ...byColumn(checks, correction)];
}
