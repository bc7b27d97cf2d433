// How long the input of a custom tool blocks the thread: a client may send 2 MB of escapes.

import { expect, test } from 'bun:test';
import { customArguments, customInput } from '../../src/wire/custom-input.ts';

test('reads a million escapes within a tenth of a second', () => {
  const input = '"'.repeat(1_000_000);
  const whole = customArguments(input);
  const times = [1, 2, 3].map(() => {
    const start = performance.now();
    expect(customInput(whole)).toHaveLength(input.length);
    return performance.now() - start;
  });
  expect(Math.min(...times)).toBeLessThan(100);
});
