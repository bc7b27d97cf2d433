// The writer's cache of open holds never outlives the row: another node may end a hold or raise it,
// a transaction may be rolled back, and the database decides.

import { expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
import { createWriter, type LedgerRequest, type Writer } from '../../src/ledger/writer.ts';
import {
  connectAgain,
  describeOnEachDatabase,
  newDatabase,
  temporaryDirectory,
} from '../support/database.ts';
import {
  booksOver,
  closeBooks,
  creditOf,
  fundAccount,
  holdOf,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();

/** Two writers over one file, each with its own connection, and 1,000 in the account of Ada. */
async function twoWriters() {
  const database = await newDatabase(directory);
  const open = booksOver(database);
  await fundAccount(open, 'ada', 1_000n);
  const other = connectAgain(database);
  return {
    open,
    first: createWriter(open.database),
    second: createWriter(other),
    async close() {
      await other.close();
      await closeBooks(open);
    },
  };
}

const hold: LedgerRequest = { name: 'hold', command: holdOf('r1', 'ada', 600n) };

async function resultOf(write: Writer, request: LedgerRequest): Promise<unknown> {
  const [answer] = await write([request]);
  return answer?.ok === true ? answer.result : answer?.error;
}

describeOnEachDatabase('open holds', () => {
  test('a hold that another process has ended is not ended again', async () => {
    const { open, first, second, close } = await twoWriters();
    await resultOf(first, hold);
    await resultOf(second, { name: 'release', command: releaseOf('r1') });
    expect(await resultOf(first, { name: 'settle', command: settleOf('r1', 15n) })).toEqual({
      debited: micro(0n),
      loss: micro(0n),
      available: micro(1_000n),
    });
    expect(await open.books.audit()).toEqual([]);
    await close();
  });

  test('a hold that another process has raised is freed as it is', async () => {
    const { open, first, second, close } = await twoWriters();
    await resultOf(first, hold);
    await resultOf(second, { name: 'extend', command: { requestId: 'r1', amount: micro(900n) } });
    expect(await resultOf(first, { name: 'settle', command: settleOf('r1', 15n) })).toEqual({
      debited: micro(15n),
      loss: micro(0n),
      available: micro(985n),
    });
    expect(await open.books.audit()).toEqual([]);
    await close();
  });

  test('a raise, an end and a hold that were undone are not remembered', async () => {
    const { open, first: write, close } = await twoWriters();
    // Too large a correction is refused in the middle of a batch, which is then done again.
    const refused: LedgerRequest = {
      name: 'credit',
      command: { ...creditOf('c9', 'ada', -5_000n), kind: 'adjustment' },
    };
    const extend: LedgerRequest = {
      name: 'extend',
      command: { requestId: 'r1', amount: micro(700n) },
    };
    const settle: LedgerRequest = { name: 'settle', command: settleOf('r1', 15n) };
    for (const batch of [
      [hold, refused],
      [extend, refused],
      [settle, refused, settle],
    ]) {
      const answers = await write(batch);
      expect(answers.map(({ ok }) => ok)).toEqual(batch.map((request) => request !== refused));
      expect(await open.books.audit()).toEqual([]);
    }
    expect(await open.books.balance('ada')).toEqual({
      posted: micro(985n),
      held: micro(0n),
      available: micro(985n),
    });
    await close();
  });
});
