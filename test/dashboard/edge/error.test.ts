// The messages for ledger failures claim nothing uncertain.

import { expect, test } from 'bun:test';
import { refusalOf } from '../../../src/dashboard/edge/error.ts';
import { LedgerSilent, LedgerUnavailable } from '../../../src/ledger/error.ts';

test('only what was certainly not written is said to have changed nothing', () => {
  const unavailable = { status: 503, code: 'unavailable' };
  expect(refusalOf(new LedgerUnavailable('full'))).toEqual({
    ...unavailable,
    message: 'The ledger cannot be written now. Nothing was changed. Try again in a minute.',
  });
  expect(refusalOf(new LedgerSilent('cut'))).toEqual({
    ...unavailable,
    message: 'The ledger did not confirm this change. Check whether it was made before you retry.',
  });
});
