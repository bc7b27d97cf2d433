import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { acceptedStep, codeAt, enrolment, stepAt } from '../../../src/identity/sign-in/totp.ts';
import { codeOf } from '../../support/one-time-code.ts';

/** The secret of both RFCs. */
const KEY = Buffer.from('12345678901234567890');
const STEP_MS = 30_000;
const ANY_KEY = fc.uint8Array({ minLength: 1, maxLength: 40 });

test.each([
  [0, '755224'],
  [1, '287082'],
  [2, '359152'],
  [3, '969429'],
  [4, '338314'],
  [5, '254676'],
  [6, '287922'],
  [7, '162583'],
  [8, '399871'],
  [9, '520489'],
])('RFC 4226, appendix D: counter %d', (counter, code) => {
  expect(codeAt(counter, KEY)).toBe(code);
});

// Of its eight digits, these are the last six.
test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('RFC 6238, appendix B: %d s', (seconds, code) => {
  expect(codeAt(stepAt(seconds * 1_000), KEY)).toBe(code);
});

describe('a code', () => {
  const NOW_MS = 1_111_111_109_000;
  const NOW = stepAt(NOW_MS);

  test.each([
    [-2, undefined],
    [-1, NOW - 1],
    [0, NOW],
    [1, NOW + 1],
    [2, undefined],
  ])('of %d steps from now is accepted one step around it', (steps, accepted) => {
    expect(acceptedStep(codeAt(NOW + steps, KEY), KEY, NOW_MS, 0)).toBe(accepted);
  });

  test('of a step that was used, or of one before it, is not accepted', () => {
    for (const step of [NOW - 1, NOW]) {
      expect(acceptedStep(codeAt(step, KEY), KEY, NOW_MS, NOW)).toBeUndefined();
    }
    expect(acceptedStep(codeAt(NOW + 1, KEY), KEY, NOW_MS, NOW)).toBe(NOW + 1);
  });

  test.each(['', '12345', '0818041', '０８１８０４', 'abcdef'])('is six digits: %p', (code) => {
    expect(acceptedStep(code, KEY, NOW_MS, 0)).toBeUndefined();
  });
});

test('law: an app that was given the typed secret shows the codes that are accepted', () => {
  fc.assert(
    fc.property(ANY_KEY, fc.integer({ min: 2 * STEP_MS, max: 4e12 }), (key, nowMs) => {
      const { secret, uri } = enrolment(key, 'Tollgate', 'a@example.com');
      expect(uri).toContain(`?secret=${secret}&`);
      const code = codeOf(secret, nowMs);
      expect(code).toBe(codeAt(Math.floor(nowMs / STEP_MS), key));
      expect(acceptedStep(code, key, nowMs, 0)).toBeDefined();
    }),
  );
});
