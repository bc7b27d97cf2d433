// Draws a text as a QR code (ISO/IEC 18004). For the secret of a second factor, which must not leave the
// page to be drawn by somebody else. Loaded only where one is set up.

import { type Codewords, encodeText } from './qr-codewords.ts';

/** Row by row; dark modules are true. Without the quiet zone around them. */
export type Modules = readonly (readonly boolean[])[];

type Grid = boolean[][];

/** Throws where the text is too long: 666 bytes fit. */
export function encodeQr(text: string): Modules {
  const codewords = encodeText(text);
  const size = codewords.version * 4 + 17;
  const grid = square(size);
  /** What no mask may change. */
  const fixed = square(size);
  drawPatterns(codewords.version, (x, y, isDark) => {
    set(grid, x, y, isDark);
    set(fixed, x, y, true);
  });
  drawData(grid, fixed, codewords);
  const masked = MASKS.map((_, mask) => applyMask(grid, fixed, mask));
  return masked.reduce((best, each) => (penalty(each) < penalty(best) ? each : best));
}

function square(size: number): Grid {
  return Array.from({ length: size }, () => Array<boolean>(size).fill(false));
}

function set(grid: Grid, x: number, y: number, isDark: boolean): void {
  const row = grid[y];
  if (row !== undefined && x >= 0 && x < row.length) row[x] = isDark;
}

type Put = (x: number, y: number, isDark: boolean) => void;

/** Timing, finders, alignment marks, version; and the place of the format, which the mask fills. */
function drawPatterns(version: number, put: Put): void {
  const size = version * 4 + 17;
  for (let at = 0; at < size; at += 1) {
    put(6, at, at % 2 === 0);
    put(at, 6, at % 2 === 0);
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    drawRings(x, y, 4, [2, 4], put);
  const marks = alignmentMarks(version);
  const last = marks.at(-1);
  for (const x of marks) {
    for (const y of marks) {
      const isAtFinder = (x === 6 && (y === 6 || y === last)) || (x === last && y === 6);
      if (!isAtFinder) drawRings(x, y, 2, [1], put);
    }
  }
  drawFormat(size, 0, put);
  if (version < 7) return;
  const bits = (version << 12) | checkBits(version, 12, 0x1f25);
  for (let bit = 0; bit < 18; bit += 1) {
    const [near, far] = [Math.floor(bit / 3), size - 11 + (bit % 3)];
    put(far, near, isSet(bits, bit));
    put(near, far, isSet(bits, bit));
  }
}

/** Squares in squares around a centre: dark, but for the distances that are named. */
function drawRings(
  cx: number,
  cy: number,
  reach: number,
  light: readonly number[],
  put: Put,
): void {
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) {
      put(cx + dx, cy + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
    }
  }
}

function alignmentMarks(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2;
  const size = version * 4 + 17;
  const others = Array.from({ length: count - 1 }, (_, at) => size - 7 - at * step);
  return [6, ...others.reverse()];
}

/** Which mask there is, with level M, twice. */
function drawFormat(size: number, mask: number, put: Put): void {
  const bits = ((mask << 10) | checkBits(mask, 10, 0x537)) ^ 0x5412;
  for (let bit = 0; bit < 15; bit += 1) {
    const isDark = isSet(bits, bit);
    // Around the first finder, stepping over the timing; then along the two others.
    const along = bit < 6 ? bit : bit + 1;
    if (bit < 8) put(8, along, isDark);
    else put(bit === 8 ? 7 : 14 - bit, 8, isDark);
    if (bit < 8) put(size - 1 - bit, 8, isDark);
    else put(8, size - 15 + bit, isDark);
  }
  put(8, size - 8, true);
}

function checkBits(value: number, length: number, polynomial: number): number {
  let rest = value;
  for (let step = 0; step < length; step += 1) {
    rest = (rest << 1) ^ ((rest >> (length - 1)) * polynomial);
  }
  return rest;
}

function isSet(bits: number, bit: number): boolean {
  return ((bits >> bit) & 1) === 1;
}

/** Up and down in pairs of columns, from the right, around what is fixed. */
function drawData(grid: Grid, fixed: Grid, { bytes }: Codewords): void {
  const size = grid.length;
  let bit = 0;
  for (let pair = size - 1; pair > 0; pair -= pair === 8 ? 3 : 2) {
    const isUpward = ((pair + 1) & 2) === 0;
    for (let step = 0; step < size * 2; step += 1) {
      const x = pair - (step % 2);
      const row = Math.floor(step / 2);
      const y = isUpward ? size - 1 - row : row;
      if (fixed[y]?.[x] === true) continue;
      set(grid, x, y, isSet(bytes[bit >> 3] ?? 0, 7 - (bit & 7)));
      bit += 1;
    }
  }
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

function applyMask(grid: Grid, fixed: Grid, mask: number): Grid {
  const inverts = MASKS[mask];
  const masked = grid.map((row, y) =>
    row.map((isDark, x) => isDark !== (fixed[y]?.[x] === false && inverts?.(x, y) === true)),
  );
  drawFormat(grid.length, mask, (x, y, isDark) => set(masked, x, y, isDark));
  return masked;
}

/** How hard a drawing is to read: long runs, blocks, what looks like a finder, and imbalance. */
function penalty(grid: Grid): number {
  const text = (row: readonly boolean[]) => row.map((isDark) => (isDark ? '1' : '0')).join('');
  const rows = grid.map(text);
  const columns = grid.map((_, x) => text(grid.map((row) => row[x] === true)));
  let points = 0;
  for (const line of [...rows, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) points += run.length - 2;
    points += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (const [y, row] of grid.slice(1).entries()) {
    for (const [x, isDark] of row.slice(1).entries()) {
      const others = [row[x], grid[y]?.[x], grid[y]?.[x + 1]];
      if (others.every((other) => other === isDark)) points += 3;
    }
  }
  const dark = rows.join('').replaceAll('0', '').length / grid.length ** 2;
  return points + 10 * Math.floor(Math.abs(dark - 0.5) * 20);
}
