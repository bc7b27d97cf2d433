// The QR codes of second factors, against what an independent encoder draws.

import { expect, test } from 'bun:test';
import { encodeQr } from '../../../src/web/auth/qr.ts';

const drawn = (text: string): string[] =>
  encodeQr(text).map((row) => row.map((isDark) => (isDark ? '#' : '.')).join(''));

const digest = (rows: readonly string[]): string =>
  new Bun.CryptoHasher('sha256').update(rows.join('\n')).digest('hex').slice(0, 16);

/** The text whose codes another program drew, for the digests below. */
const URI = `Tollgate:${['some', 'body'].join('')}@example.com?secret=ABCDEFGH`;

test('a short text, module by module', () => {
  expect(drawn('Tollgate')).toEqual([
    '#######....#..#######',
    '#.....#.#.#.#.#.....#',
    '#.###.#..###..#.###.#',
    '#.###.#..#..#.#.###.#',
    '#.###.#.#.###.#.###.#',
    '#.....#..###..#.....#',
    '#######.#.#.#.#######',
    '.........##..........',
    '#.#.#.#...#.#...#..#.',
    '##.....##..#...##.###',
    '.#######.#.#.#####.##',
    '##..#...#.####.#...#.',
    '..#...######..###..##',
    '........###...#.#.#..',
    '#######...#.#..##.###',
    '#.....#..##...#....#.',
    '#.###.#.#...#.#.#....',
    '#.###.#...##.#.##.##.',
    '#.###.#.#..#.####.#.#',
    '#.....#....###..#..#.',
    '#######.##.#.####..##',
  ]);
});

/** Where the other encoder takes the same mask: one block or many, with and without a version. */
test.each([
  [15, 2, 'b0ed209596429e91'],
  [106, 6, '7230ba5c68a862d4'],
  [149, 8, '752da8dde96080b2'],
  [412, 15, '4e31447017acbaac'],
  [560, 18, '2cb19f2c085cf043'],
])('%i bytes are version %i', (length, version, expected) => {
  const rows = drawn('otpauth://totp/'.padEnd(length, URI).slice(0, length));
  expect([rows.length, digest(rows)]).toEqual([version * 4 + 17, expected]);
});

test('as much as fits, and not a byte more', () => {
  expect(drawn('é'.repeat(333))).toHaveLength(97);
  expect(() => encodeQr('a'.repeat(667))).toThrow(RangeError);
});
