// JSON as text, with everything that a round trip through JavaScript values would change: integer
// keys, large numbers, repeated members, escapes, gaps.

import fc from 'fast-check';
import { anyText } from './text.ts';

const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '1.5',
  '1.0',
  '1E400',
  '-1e999',
  '1e-7',
  '1e9',
  '1000000001',
  '9007199254740993',
  '12345678901234567890',
] as const;

const LITERALS = ['null', 'true', 'false', '""', '[]', '{}', '"\\u0041"', '"\\ud83d"'] as const;

export const scalarText = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(...LITERALS),
  anyText.map((text) => JSON.stringify(text)),
);

export const keyText = fc.oneof(
  fc.constantFrom('"2"', '"10"', '"a"', '"\\u0061"', '"__proto__"', '"input"', '"content"'),
  anyText.map((text) => JSON.stringify(text)),
);

const gap = fc.constantFrom('', '', '', ' ', '\n', '\t\r\n  ');

const tree = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalarText, tie('object'), tie('array')),
  array: fc
    .tuple(gap, fc.array(tie('value'), { maxLength: 3 }))
    .map(([space, items]) => `[${space}${items.join(`${space},${space}`)}${space}]`),
  object: fc
    .tuple(gap, fc.array(fc.tuple(keyText, tie('value')), { maxLength: 4 }))
    .map(([space, members]) => {
      const texts = members.map(([key, value]) => `${key}${space}:${space}${value}`);
      return `{${space}${texts.join(`${space},${space}`)}${space}}`;
    }),
}));

export const jsonText = tree.value;
export const jsonObjectText = tree.object;

/** A JSON string of these texts. */
export function stringText(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return texts.map((text) => JSON.stringify(text));
}

/** An object with these members, given as JSON text; those that are not required may be missing. */
export function objectText<Key extends string>(
  members: Readonly<Record<Key, fc.Arbitrary<string>>>,
  required: readonly NoInfer<Key>[] = [],
): fc.Arbitrary<string> {
  return fc
    .record<Record<string, string>>(members, { requiredKeys: [...required] })
    .map((present) => {
      const texts = Object.entries(present).map(([key, text]) => `${JSON.stringify(key)}:${text}`);
      return `{${texts.join(',')}}`;
    });
}

export function listText(items: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> {
  return fc.array(items, { maxLength }).map((texts) => `[${texts.join(',')}]`);
}

/** Mostly `usual`, else some JSON that does not belong there. */
export function mostly(usual: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: scalarText });
}
