// What the log contains of a thrown error, and what it never contains.

import { SQLiteError } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { LedgerUnavailable } from '../../src/ledger/error.ts';
import { errorWords } from '../../src/observe/error-text.ts';

const CANARY = 'Qzx7';

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
}

test.each<[string, () => unknown]>([
  ['JSON that cannot be read', () => JSON.parse(CANARY)],
  ['a URL that is none', () => new URL(`${CANARY} x`)],
  ['a header that is refused', () => new Headers({ [`${CANARY} x`]: 'y' })],
  ['a value that is refused', () => new Headers({ x: `${CANARY}\nx` })],
  ['a number that is none', () => BigInt(CANARY)],
  [
    'an error with properties',
    () => {
      throw Object.assign(new Error(CANARY), { body: CANARY });
    },
  ],
  [
    'an error whose name is a text',
    () => {
      throw Object.assign(new Error('x'), { name: `${CANARY} ${CANARY}` });
    },
  ],
  [
    'an error around another one',
    () => {
      throw new Error('outside', { cause: new TypeError(CANARY) });
    },
  ],
])('nothing of a value: %s', (_name, work) => {
  const words = errorWords(thrownBy(work));
  expect(JSON.stringify(words)).not.toContain(CANARY);
  expect(words.stack).toMatch(/^at /);
});

test('an error of ours, and one about code, keep their message', () => {
  expect(errorWords(new LedgerUnavailable('The ledger did not answer.'))).toMatchObject({
    name: 'LedgerUnavailable',
    message: 'The ledger did not answer.',
  });
  const nothing: { readonly inner?: { readonly x: number } } = {};
  const { message } = errorWords(thrownBy(() => (nothing.inner as { x: number }).x));
  expect(message).toContain("(evaluating '");
});

test('an error that wraps one of the database is logged as that one', () => {
  const wrapped = new Error(`Failed query: ${CANARY}`, {
    cause: Object.assign(new Error('database or disk is full'), { name: SQLiteError.name }),
  });
  expect(errorWords(wrapped)).toMatchObject({
    name: 'SQLiteError',
    message: 'database or disk is full',
  });
});

test('a value that is no error is logged by its type', () => {
  expect([errorWords(CANARY), errorWords(undefined)]).toEqual([
    { name: 'string' },
    { name: 'undefined' },
  ]);
});
