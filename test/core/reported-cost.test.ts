// The cost that an upstream reports beside its counts, as an exact decimal of USD.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatDecimal } from '../../src/core/money.ts';
import { reportedCostUsd } from '../../src/core/reported-cost.ts';

test.each([
  ['{"prompt_tokens":1,"cost":0.00123}', '0.00123'],
  ['{"cost":1.2e-7}', '0.00000012'],
  ['{"cost":0}', '0'],
  ['{"cost":1e+21}', undefined],
  ['{"cost":-1}', undefined],
  ['{"cost_in_usd_ticks":37756000}', '0.0037756'],
  ['{"cost_in_usd_ticks":0.5}', undefined],
  ['{"prompt_tokens":1}', undefined],
  ['{"prompt_tokens":1,"cost":{"total":1}}', undefined],
  ['"cost', undefined],
  [undefined, undefined],
])('of %s is %p', (raw, expected) => {
  expect(reportedCostUsd(raw)).toBe(expected);
});

test('a decimal of up to 15 digits keeps each of them', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 15n - 1n), fc.nat(12), (digits, places) => {
      const text = formatDecimal(digits, places);
      expect(reportedCostUsd(`{"cost":${text}}`)).toBe(text);
    }),
  );
});
