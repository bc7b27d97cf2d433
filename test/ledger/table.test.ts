// What each command answers and what it leaves behind, as tables. `balance` shows posted, held and
// available; `entries` shows the legs of a transfer.

import { expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import { AMOUNT_MAX } from '../../src/core/money.ts';
import { ledgerEntries, usageRecords } from '../../src/store/tables.ts';
import { temporaryDirectory } from '../support/database.ts';
import {
  addAccount,
  closeBooks,
  creditOf,
  holdOf,
  type OpenBooks,
  openBooks,
  outcomeOf,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';
import { rows } from '../support/table.ts';

const directory = temporaryDirectory();

const TABLES: Record<string, string> = {
  'a request that costs less than its hold': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    balance ada            -> 100 30 70
    settle r1 20           -> debited 20, lost 0, 80 available
    balance ada            -> 80 0 80
    entries settle:r1      -> operator:revenue 20, customer:ada -20
    entries loss:r1        ->
    record r1              -> completed charged 20 debited 20 lost 0 of 30
  `,
  'a hold needs the whole amount': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 101        -> refused, 100 available
    hold r2 ada 100        -> held, 0 available
    hold r3 ada 1          -> refused, 0 available
    hold r4 ada 0          -> held, 0 available
    balance ada            -> 100 100 0
  `,
  'a charge above the hold takes from what is available': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    settle r1 50           -> debited 50, lost 0, 50 available
    entries settle:r1      -> operator:revenue 50, customer:ada -50
    balance ada            -> 50 0 50
  `,
  'and what the account cannot pay is the loss of the gateway': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    hold r2 ada 60         -> held, 10 available
    settle r1 55           -> debited 40, lost 15, 0 available
    balance ada            -> 60 60 0
    entries settle:r1      -> operator:revenue 40, customer:ada -40
    entries loss:r1        -> operator:revenue 15, operator:loss -15
    record r1              -> completed charged 55 debited 40 lost 15 of 30
    settle r2 60           -> debited 60, lost 0, 0 available
    balance ada            -> 0 0 0
  `,
  'a loss without any debit': `
    credit c1 ada 5        -> applied, 5 available
    hold r1 ada 0          -> held, 5 available
    hold r2 ada 5          -> held, 0 available
    settle r1 3            -> debited 0, lost 3, 0 available
    entries settle:r1      ->
    entries loss:r1        -> operator:revenue 3, operator:loss -3
  `,
  'nothing charged, nothing booked': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    settle r1 0            -> debited 0, lost 0, 100 available
    entries settle:r1      ->
    hold r2 ada 30         -> held, 70 available
    release r2             -> debited 0, lost 0, 100 available
    entries settle:r2      ->
    record r2              -> upstream_failed charged 0 debited 0 lost 0 of 30
  `,
  'the first end of a hold counts, whatever comes later': `
    credit c1 ada 100      -> applied, 100 available
    hold r1 ada 30         -> held, 70 available
    settle r1 20           -> debited 20, lost 0, 80 available
    settle r1 29           -> debited 20, lost 0, 80 available
    release r1             -> debited 20, lost 0, 80 available
    hold r2 ada 30         -> held, 50 available
    release r2             -> debited 0, lost 0, 80 available
    settle r2 30           -> debited 0, lost 0, 80 available
    balance ada            -> 80 0 80
    record r1              -> completed charged 20 debited 20 lost 0 of 30
    record r2              -> upstream_failed charged 0 debited 0 lost 0 of 30
  `,
  'a credit is booked once by its id': `
    credit c1 ada 100      -> applied, 100 available
    credit c1 ada 100      -> booked before, 100 available
    credit c1 ada 99       -> LedgerRefusal: This credit id was used before, for another account or amount.
    credit c1 bob 100      -> LedgerRefusal: This credit id was used before, for another account or amount.
    credit c2 ada 1        -> applied, 101 available
    entries credit:c1      -> customer:ada 100, operator:credits -100
    balance ada            -> 101 0 101
    balance bob            -> 0 0 0
  `,
  'amounts beyond 2^53 are exact, up to the largest': `
    credit c1 ada 9007199254740993    -> applied, 9007199254740993 available
    hold r1 ada 9007199254740992      -> held, 1 available
    settle r1 9007199254740991        -> debited 9007199254740991, lost 0, 2 available
    credit c2 ada 999999999999999998  -> applied, 1000000000000000000 available
    credit c3 ada 1        -> LedgerRefusal: The credit would take the balance above the largest amount.
    hold r2 ada 1          -> held, 999999999999999999 available
    settle r2 ${AMOUNT_MAX} -> debited 1000000000000000000, lost 0, 0 available
    record r2              -> completed charged 1000000000000000000 debited 1000000000000000000 lost 0 of 1
  `,
  'what cannot be carried out': `
    credit c1 ada 10       -> applied, 10 available
    credit c2 ada 0        -> LedgerRefusal: The amount is outside what the ledger accepts.
    credit c3 ada -5       -> LedgerRefusal: The amount is outside what the ledger accepts.
    credit c4 ada ${AMOUNT_MAX + 1n} -> LedgerRefusal: The amount is outside what the ledger accepts.
    credit c5 eve 1        -> LedgerRefusal: There is no account with this id.
    hold r1 ada -1         -> LedgerRefusal: The amount is outside what the ledger accepts.
    hold r1 eve 1          -> LedgerRefusal: There is no account with this id.
    settle r1 1            -> LedgerRefusal: There is no hold with this request id.
    release r1             -> LedgerRefusal: There is no hold with this request id.
    hold r2 ada 10         -> held, 0 available
    settle r2 -1           -> LedgerRefusal: The amount is outside what the ledger accepts.
    balance ada            -> 10 10 0
  `,
};

test.each(Object.entries(TABLES))('%s', async (_name, text) => {
  const open = openBooks(directory);
  addAccount(open, 'ada');
  addAccount(open, 'bob');
  for (const { step, expected } of rows(text)) {
    expect(`${step.join(' ')} -> ${await run(open, step)}`).toBe(
      `${step.join(' ')} -> ${expected}`,
    );
  }
  expect(open.books.audit()).toEqual([]);
  await closeBooks(open);
});

async function run(open: OpenBooks, [verb = '', id = '', ...rest]: readonly string[]) {
  const { ledger, database } = open;
  const [second = '', third = ''] = rest;
  switch (verb) {
    case 'credit': {
      const result = await outcomeOf(ledger.credit(creditOf(id, second, BigInt(third))));
      if (typeof result === 'string') return result;
      return `${result.applied ? 'applied' : 'booked before'}, ${result.available} available`;
    }
    case 'hold': {
      const result = await outcomeOf(ledger.hold(holdOf(id, second, BigInt(third))));
      if (typeof result === 'string') return result;
      return `${result.ok ? 'held' : 'refused'}, ${result.available} available`;
    }
    case 'settle':
    case 'release': {
      const ended =
        verb === 'settle'
          ? ledger.settle(settleOf(id, BigInt(second)))
          : ledger.release(releaseOf(id));
      const result = await outcomeOf(ended);
      if (typeof result === 'string') return result;
      return `debited ${result.debited}, lost ${result.loss}, ${result.available} available`;
    }
    case 'balance': {
      const { posted, held, available } = open.books.balance(id);
      return `${posted} ${held} ${available}`;
    }
    case 'entries':
      return database.db
        .select()
        .from(ledgerEntries)
        .where(eq(ledgerEntries.transferId, id))
        .orderBy(ledgerEntries.id)
        .all()
        .map((entry) => `${entry.ledgerAccount} ${entry.amount}`)
        .join(', ');
    case 'record': {
      const found = database.db
        .select()
        .from(usageRecords)
        .where(eq(usageRecords.requestId, id))
        .get();
      return `${found?.outcome} charged ${found?.charged} debited ${found?.debited} lost ${found?.loss} of ${found?.held}`;
    }
    default:
      throw new Error(`no such step: ${verb}`);
  }
}
