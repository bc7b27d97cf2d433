// What the writer has answered is in the books, all of it: nothing is left to be written later, in
// another transaction or in none.

import { expect, test } from 'bun:test';
import type { Request } from '../../src/ledger/writer.ts';
import { createWriter } from '../../src/ledger/writer.ts';
import { temporaryDirectory } from '../support/database.ts';
import {
  addAccount,
  closeBooks,
  creditOf,
  holdOf,
  openBooks,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();

/** The last one takes from the available balance and leaves a loss. */
const STEPS: readonly Request[] = [
  { name: 'credit', command: creditOf('c1', 'ada', 1_000n) },
  { name: 'hold', command: holdOf('r1', 'ada', 600n) },
  { name: 'settle', command: settleOf('r1', 15n) },
  { name: 'hold', command: holdOf('r2', 'ada', 600n) },
  { name: 'release', command: releaseOf('r2') },
  { name: 'hold', command: holdOf('r3', 'ada', 600n) },
  { name: 'settle', command: settleOf('r3', 1_200n) },
];

test('the books are whole when a batch is answered, before anything else has a turn', async () => {
  const open = openBooks(directory);
  addAccount(open, 'ada');
  const write = createWriter(open.database);
  for (const step of STEPS) {
    expect(write([step])).toMatchObject([{ ok: true }]);
    expect(open.books.audit()).toEqual([]);
  }
  expect(open.books.balance('ada')).toEqual({ posted: 0n, held: 0n, available: 0n });
  await closeBooks(open);
});
