// Chains that several ledgers write to: the server's and the command line's beside it.

import { expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import {
  connectAgain,
  describeOnEachDatabase,
  newDatabase,
  temporaryDirectory,
} from '../support/database.ts';
import { addAccount, booksOver, closeBooks, creditOf } from '../support/ledger.ts';

const directory = temporaryDirectory();

describeOnEachDatabase('receipts', () => {
  test.each([
    ['two connections', true],
    ['one connection, where nobody can tell', false],
  ])('writers in turn keep one chain: %s', async (_name, apart) => {
    const first = await newDatabase(directory);
    const open = booksOver(first);
    const database = apart ? connectAgain(first) : open.database;
    const other = createLedger({ database });
    await addAccount(open, 'ada');
    for (let n = 0; n < 30; n += 1) {
      const ledger = n % 3 === 0 ? other : open.ledger;
      await ledger.credit(creditOf(`c${n}`, 'ada', 1n));
    }
    expect((await open.books.balance('ada')).posted).toBe(micro(30n));
    expect(await open.books.audit()).toEqual([]);
    await other.close();
    if (apart) await database.close();
    await closeBooks(open);
  });
});
