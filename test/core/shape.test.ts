// Texts as their shapes and numbers: nothing of a text is lost, whether its shape is known or not.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { shapeNumber, TextPacker, unpackText } from '../../src/core/shape.ts';

const SHAPES_MAX = 1_000_000;

/** A list of shapes that begins with some number, as the books' has others before it. */
function shapesFrom(first: number) {
  const shapes: string[] = [];
  return {
    learn(shape: string): number {
      const at = shapes.indexOf(shape);
      return first + (at >= 0 ? at : shapes.push(shape) - 1);
    },
    shapeOf: (number: number): string => shapes[number - first] ?? 'unknown',
    size: () => shapes.length,
  };
}

/** As the first text of a packer. */
const packText = (text: string, numberOf: (shape: string) => number | undefined): Uint8Array =>
  new TextPacker(numberOf).pack(text);

const unknown = (): undefined => undefined;
const never = (): never => {
  throw new Error('no shape is needed');
};

const number = fc.oneof(
  fc.nat().map(String),
  fc.maxSafeNat().map(String),
  fc.stringMatching(/^\d+$/),
);
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.json(),
  fc.array(fc.oneof(number, fc.string({ unit: 'grapheme' }))).map((parts) => parts.join('')),
);

test('law: a text comes back letter for letter, and names its shape', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: SHAPES_MAX }), (written, first) => {
      const shapes = shapesFrom(first);
      const packed = packText(written, shapes.learn);
      expect(unpackText(packed, shapes.shapeOf)).toBe(written);
      expect(shapeNumber(packed)).toBe(shapes.size() === 0 ? undefined : first);
    }),
  );
});

test('law: a text of an unknown shape is kept as it is', () => {
  fc.assert(
    fc.property(text, (written) => {
      const packed = packText(written, unknown);
      expect(unpackText(packed, never)).toBe(written);
      expect(shapeNumber(packed)).toBeUndefined();
    }),
  );
});

test('law: texts that differ by their numbers alone have one shape', () => {
  const numbers = fc.array(fc.maxSafeNat(), { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(numbers, numbers, (one, other) => {
      const shapes = shapesFrom(1);
      const reportOf = ([prompt, completion, total]: readonly number[]): string =>
        `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${total}}`;
      const packed = [one, other].map((each) => packText(reportOf(each), shapes.learn));
      expect(shapes.size()).toBe(1);
      expect(packed.map((bytes) => unpackText(bytes, shapes.shapeOf))).toEqual(
        [one, other].map(reportOf),
      );
    }),
  );
});

test('law: a packer packs each text as if it were its first', () => {
  const some = fc.constantFrom('0', '00', '07', '7', '12', '-', '.', 'a', '#', '9007199254740993');
  const texts = fc.array(fc.array(some, { maxLength: 6 }).map((parts) => parts.join('')));
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: SHAPES_MAX }), (written, first) => {
      const { learn } = shapesFrom(first);
      const packer = new TextPacker(learn);
      const packed = written.map((each) => packer.pack(each));
      expect(packed).toEqual(written.map((each) => packText(each, learn)));
    }),
  );
});

test('of shapes with one beginning, a packer keeps the latest', () => {
  const asked: string[] = [];
  const packer = new TextPacker((shape) => asked.push(shape));
  const texts = Array.from({ length: 100 }, (_, index) => `1${'x'.repeat(index)}`);
  const [first = '', last = ''] = [texts[0], texts.at(-1)];
  for (const text of [...texts, last, first]) packer.pack(text);
  expect(asked).toEqual([...texts, first].map((text) => text.replace('1', '#')));
});

test('a report takes a few bytes', () => {
  const report = '{"prompt_tokens":20,"completion_tokens":5000,"total_tokens":5020}';
  expect([...packText(report, () => 300)]).toEqual([172, 2, 20, 136, 39, 156, 39]);
});

test('zeros before a number, as in dates and prices, belong to the shape', () => {
  const shapes = shapesFrom(1);
  const attempt = (ms: number, cost: string): string =>
    `[{"model":"m-2024-08-06","ms":${ms},"cost":"${cost}"}]`;
  const written = [attempt(120, '0.000123'), attempt(8, '0.000999'), attempt(0, '0.000000')];
  const packed = written.map((each) => packText(each, shapes.learn));
  expect(packed.map((bytes) => unpackText(bytes, shapes.shapeOf))).toEqual(written);
  expect(packed.map(({ length }) => length)).toEqual([8, 9, 8]);
});

test.each([
  ['a number that a float does not have', '{"tokens":9007199254740993}'],
  ['the sign of a number', '{"tokens":"#"}'],
])('%s is kept with its text', (_, written) => {
  const packed = packText(written, never);
  expect(packed[0]).toBe(0);
  expect(unpackText(packed, never)).toBe(written);
});

test('bytes that do not fit their shape are no text', () => {
  const packed = packText('1 and 2', () => 1);
  expect(() => unpackText(packed, () => '# alone')).toThrow(RangeError);
});
