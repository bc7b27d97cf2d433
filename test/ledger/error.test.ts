// Errors on their way between threads: any thrown value arrives as an error.

import { expect, test } from 'bun:test';
import { LedgerUnavailable, packError, unpackError } from '../../src/ledger/error.ts';

test('what is no error arrives as one', () => {
  expect(unpackError(packError('a text'))).toMatchObject({ name: 'Error', message: 'a text' });
});

test('an error without a stack arrives without the other side having made one up', () => {
  const error = new Error('no stack');
  Reflect.deleteProperty(error, 'stack');
  expect(packError(error)).toEqual({ name: 'Error', message: 'no stack' });
});

test("the ledger's own errors keep their class and their causes", () => {
  const error = new LedgerUnavailable('The disk is full.', { cause: new RangeError('why') });
  const arrived = unpackError(structuredClone(packError(error)));
  expect(arrived).toBeInstanceOf(LedgerUnavailable);
  expect(arrived).toMatchObject({ message: 'The disk is full.', cause: { name: 'RangeError' } });
});
