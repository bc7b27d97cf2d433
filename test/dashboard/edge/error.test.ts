// What people are told where the books fail: nothing that may not be so.

import { expect, test } from 'bun:test';
import { refusalOf } from '../../../src/dashboard/edge/error.ts';
import { LedgerSilent, LedgerUnavailable } from '../../../src/ledger/error.ts';

test('only what was certainly not written is said to have changed nothing', () => {
  const unavailable = { status: 503, code: 'unavailable' };
  expect(refusalOf(new LedgerUnavailable('full'))).toEqual({
    ...unavailable,
    message:
      'The books cannot be written at the moment, and nothing was changed. Try again in a minute.',
  });
  expect(refusalOf(new LedgerSilent('cut'))).toEqual({
    ...unavailable,
    message:
      'The books have not said whether this was done. Look for it before you ask for it again.',
  });
});
