// Image sizes from file headers: real ones, and forged ones that would cost less.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { imageSize } from '../../src/wire/image-size.ts';

const url = (bytes: readonly number[], type = 'image/png'): string =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;

const big = (value: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => (value >>> (8 * (count - 1 - at))) & 0xff);
const little = (value: number, count: number): number[] => big(value, count).reverse();
const ascii = (text: string): number[] => [...Buffer.from(text, 'latin1')];

const png = (width: number, height: number): number[] => [
  ...[0x89, ...ascii('PNG\r\n\u001a\n'), 0, 0, 0, 13, ...ascii('IHDR')],
  ...[...big(width, 4), ...big(height, 4), 8, 6, 0, 0, 0],
];

const segment = (marker: number, bytes: readonly number[]): number[] => [
  ...[0xff, marker, ...big(bytes.length + 2, 2)],
  ...bytes,
];
const frame = (width: number, height: number, marker = 0xc0): number[] =>
  segment(marker, [8, ...big(height, 2), ...big(width, 2), 3, 1, 0x22, 0]);
const SCAN = [0xff, 0xda, 0, 2];
const jpeg = (...parts: readonly (readonly number[])[]): number[] => [0xff, 0xd8, ...parts.flat()];
const EXIF = segment(
  0xe1,
  Array.from({ length: 60_000 }, (_, at) => at % 251),
);

const gifScreen = (width: number, height: number, packed = 0): number[] => [
  ...[...ascii('GIF89a'), ...little(width, 2), ...little(height, 2), packed, 0, 0],
  ...Array.from({ length: packed === 0 ? 0 : 3 * 2 ** ((packed & 7) + 1) }, () => 7),
];
const gifFrame = (left: number, top: number, width: number, height: number): number[] => [
  0x2c,
  ...[left, top, width, height].flatMap((value) => little(value, 2)),
  0,
];
const GIF_EXTENSION = [0x21, 0xf9, 4, 1, 2, 3, 4, 3, 1, 2, 3, 0];

const webp = (kind: string, body: readonly number[]): number[] => [
  ...[...ascii('RIFF'), ...little(body.length + 12, 4), ...ascii(`WEBPVP8${kind}`)],
  ...[...little(body.length, 4), ...body],
];
const lossless = (width: number, height: number): number[] =>
  webp('L', [0x2f, ...little(((height - 1) << 14) | (width - 1), 4)]);

describe('the size of', () => {
  test.each<[string, number[], number, number]>([
    ['a PNG', png(1_024, 768), 1_024, 768],
    ['a JPEG', jpeg(frame(640, 480), SCAN), 640, 480],
    [
      'a progressive JPEG behind its EXIF',
      jpeg(EXIF, EXIF, frame(4_032, 3_024, 0xc2), SCAN),
      4_032,
      3_024,
    ],
    ['a JPEG with fill bytes', jpeg([0xff, 0xff], frame(64, 48), SCAN), 64, 48],
    ['a GIF', [...gifScreen(320, 200), ...gifFrame(0, 0, 320, 200)], 320, 200],
    [
      'a GIF with colours and extensions',
      [...gifScreen(32, 20, 0x87), ...GIF_EXTENSION, ...gifFrame(0, 0, 32, 20)],
      32,
      20,
    ],
    [
      'a lossy WebP',
      webp(' ', [0, 0, 0, 0x9d, 1, 0x2a, ...little(800, 2), ...little(600, 2)]),
      800,
      600,
    ],
    ['a lossless WebP', lossless(1_200, 900), 1_200, 900],
    [
      'an extended WebP',
      webp('X', [0, 0, 0, 0, ...little(1_919, 3), ...little(1_079, 3)]),
      1_920,
      1_080,
    ],
  ])('%s', (_name, bytes, width, height) => {
    expect(imageSize(url(bytes))).toEqual({ width, height });
    // The declared type does not matter, nor how much follows.
    expect(imageSize(url([...bytes, ...EXIF], 'image/webp; charset=x'))).toEqual({ width, height });
  });
});

describe('a header that says less than a decoder finds', () => {
  test.each<[string, number[], number, number]>([
    [
      'a small frame before a large one',
      jpeg(frame(1, 1), frame(4_000, 3_000), SCAN),
      4_000,
      3_000,
    ],
    ['a marker without a length', jpeg([0xff, 0xd0], [0xff, 0x01], frame(9, 8), SCAN), 9, 8],
    [
      'a small screen with a large frame',
      [...gifScreen(1, 1), ...gifFrame(5, 6, 4_000, 3_000)],
      4_005,
      3_006,
    ],
  ])('%s', (_name, bytes, width, height) => {
    expect(imageSize(url(bytes))).toEqual({ width, height });
  });

  test.each<[string, string]>([
    ['an address', 'https://example.com/a.png'],
    ['data that is not base64', `data:image/png,${encodeURIComponent('x')}`],
    ['base64 with line breaks', url(png(3, 4)).replace(',', ',\n')],
    ['half a header', url(png(3, 4).slice(0, 20))],
    ['half a lossless header', url(lossless(3, 4).slice(0, 23))],
    ['a PNG of no width', url(png(0, 4))],
    ['a PNG that does not begin with its header', url([...png(3, 4).slice(0, 8), ...png(3, 4)])],
    ['a JPEG whose height comes later', url(jpeg(frame(640, 0), SCAN))],
    ['a JPEG without a frame', url(jpeg(EXIF, SCAN))],
    ['a JPEG with rubbish between segments', url(jpeg(EXIF, [1, 2, 3], frame(3, 4), SCAN))],
    ['another format', url(ascii('BM some bitmap'))],
    ['nothing', 'data:image/png;base64,'],
  ])('is unknown: %s', (_name, address) => {
    expect(imageSize(address)).toBeUndefined();
  });

  test('of endless segments or blocks ends soon', () => {
    const segments = url(jpeg(...Array.from({ length: 100_000 }, () => [0xff, 0xe0, 0, 2])));
    const fill = url([0xff, 0xd8, ...Array.from({ length: 500_000 }, () => 0xff)]);
    const blocks = url([
      ...gifScreen(1, 1),
      ...Array.from({ length: 50_000 }, () => [0x21, 1, 1, 1, 0]).flat(),
    ]);
    const block = url([...gifScreen(1, 1), 0x21, 1, ...Array.from({ length: 500_000 }, () => 1)]);
    for (const address of [segments, fill, blocks, block]) {
      expect(imageSize(address)).toBeUndefined();
    }
  });
});

describe('before the size stand', () => {
  const segments = (count: number): number[] =>
    jpeg(...Array.from({ length: count }, () => [0xff, 0xe0, 0, 2]), frame(3, 4), SCAN);
  const blocks = (count: number): number[] => [
    ...[...gifScreen(3, 4), 0x21, 0xff, ...Array.from({ length: count }, () => [1, 0x20]).flat()],
    ...[0, ...gifFrame(0, 0, 3, 4)],
  ];

  test.each<[string, number[], number[]]>([
    ['60 segments of a JPEG', segments(60), segments(64)],
    ['200 blocks of a GIF', blocks(200), blocks(256)],
  ])('%s at most', (_name, most, more) => {
    expect(imageSize(url(most))).toEqual({ width: 3, height: 4 });
    expect(imageSize(url(more))).toBeUndefined();
  });
});

test('any bytes have a size of at least one pixel, or none', () => {
  const starts = [png(9, 9), jpeg(EXIF.slice(0, 40)), gifScreen(9, 9, 0x80), lossless(9, 9)];
  const bytes = fc.tuple(
    fc.constantFrom(...starts),
    fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 200 }),
    fc.nat(60),
  );
  fc.assert(
    fc.property(bytes, ([start, rest, cut]) => {
      const size = imageSize(url([...start.slice(0, cut), ...rest]));
      if (size === undefined) return;
      for (const side of [size.width, size.height]) {
        expect(Number.isSafeInteger(side)).toBe(true);
        expect(side).toBeGreaterThan(0);
      }
    }),
    { numRuns: 1_000 },
  );
});
