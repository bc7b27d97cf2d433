// Heads, receipts and texts for the tests of the Messages format.

import fc from 'fast-check';
import type { Receipt } from '../../../src/core/generation.ts';
import { receiptWith } from '../fixtures.ts';

export { HEAD } from '../fixtures.ts';

export const RECEIPT: Receipt = receiptWith(40);

export const SIGNATURE = 'tg1.dG9sbGdhdGU=';

export const USAGE_JSON = {
  input_tokens: 60,
  cache_creation_input_tokens: 50,
  cache_read_input_tokens: 40,
  output_tokens: 20,
  svc_tokens_debited: '12.5',
  svc_cost_usd: '0.0000125',
};

const space = fc.constantFrom('', '', ' ', '\n  ', '\t\r\n');

const scalar = fc.oneof(
  fc.constantFrom('12345678901234567890', '1.0', '-0', '1E400', 'true', 'false', 'null'),
  fc.constantFrom('"\\u0041"', '"\\\\"', '"\\\\\\""', '"]}{[,:"', '"\\ud83d\\ude00"', '"é😀"'),
  fc.string({ unit: 'binary', maxLength: 6 }).map((text) => JSON.stringify(text)),
);

const key = fc.constantFrom(
  '"2"',
  '"10"',
  '"1"',
  '"input"',
  '"content"',
  '"messages"',
  '"\\u0069"',
);

const { object, value } = fc.letrec<{ object: string; array: string; value: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, tie('object'), tie('array')),
  array: fc
    .tuple(space, fc.array(tie('value'), { maxLength: 3 }))
    .map(([gap, items]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
  object: fc
    .tuple(space, fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }))
    .map(([gap, members]) => {
      const texts = members.map(([name, text]) => `${name}${gap}:${gap}${text}`);
      return `{${gap}${texts.join(`${gap},${gap}`)}${gap}}`;
    }),
}));

/** JSON texts that a round trip through JavaScript values would change. */
export const jsonObjectText = object;
export const jsonText = value;
