// Shrinks a PNG from true colour to a palette of 256 colours. Pages have few colours; antialiased
// text adds a few hundred similar ones. Reads the PNGs that browsers write: 8 bits a channel, not
// interlaced.

import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS_MAX = 256;

type Picture = {
  readonly width: number;
  readonly height: number;
  /** One number a pixel: 0xRRGGBB. */
  readonly pixels: Uint32Array;
};

/** The same picture as a PNG with a palette. */
export function toPalette(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const palette = mostUsed(pixels);
  const nearest = new Map(palette.map((colour, index) => [colour, index]));
  const lines = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = pixels[y * width + x] ?? 0;
      let index = nearest.get(colour);
      if (index === undefined) {
        index = nearestOf(palette, colour);
        nearest.set(colour, index);
      }
      lines[y * (width + 1) + 1 + x] = index;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => channels(colour)));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const channels = (colour: number) => [(colour >> 16) & 255, (colour >> 8) & 255, colour & 255];

function mostUsed(pixels: Uint32Array): number[] {
  const counts = new Map<number, number>();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, COLOURS_MAX)
    .map(([colour]) => colour);
}

function nearestOf(palette: readonly number[], colour: number): number {
  const [red = 0, green = 0, blue = 0] = channels(colour);
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, candidate] of palette.entries()) {
    const [r = 0, g = 0, b = 0] = channels(candidate);
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
    if (distance < least) {
      best = index;
      least = distance;
    }
  }
  return best;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8 + named.length);
  frame.writeUInt32BE(data.length, 0);
  named.copy(frame, 4);
  frame.writeUInt32BE(crc32(named), 4 + named.length);
  return frame;
}

function decode(png: Buffer): Picture {
  const parts: Buffer[] = [];
  let width = 0;
  let height = 0;
  let channelCount = 3;
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      width = data.readUInt32BE(0);
      height = data.readUInt32BE(4);
      channelCount = data[9] === 6 ? 4 : 3;
    }
    if (type === 'IDAT') parts.push(data);
    at += 12 + length;
  }
  const bytes = unfilter(
    inflateSync(Buffer.concat(parts)),
    width * channelCount,
    height,
    channelCount,
  );
  const pixels = new Uint32Array(width * height);
  for (const index of pixels.keys()) pixels[index] = bytes.readUIntBE(index * channelCount, 3);
  return { width, height, pixels };
}

/** Each line is written as its difference from what is left of it, above it, or both. */
function unfilter(lines: Buffer, stride: number, height: number, step: number): Buffer {
  const bytes = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = lines[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < step ? 0 : (bytes[at - step] ?? 0);
      const above = y === 0 ? 0 : (bytes[at - stride] ?? 0);
      const corner = x < step || y === 0 ? 0 : (bytes[at - stride - step] ?? 0);
      const difference = lines[y * (stride + 1) + 1 + x] ?? 0;
      bytes[at] = difference + predicted(filter, left, above, corner);
    }
  }
  return bytes;
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4: {
      const guess = left + above - corner;
      const [a, b, c] = [left, above, corner].map((value) => Math.abs(guess - value));
      if ((a ?? 0) <= (b ?? 0) && (a ?? 0) <= (c ?? 0)) return left;
      return (b ?? 0) <= (c ?? 0) ? above : corner;
    }
    default:
      return 0;
  }
}
