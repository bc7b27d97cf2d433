// Recovery over books that somebody has damaged: one account's hold that cannot be ended keeps
// neither the holds of others nor the start of a server.

import { expect, test } from 'bun:test';
import { recoverAll } from '../../src/ledger/recover.ts';
import { temporaryDirectory } from '../support/database.ts';
import { closeBooks, fundAccount, holdOf, NOW, openBooks } from '../support/ledger.ts';

const directory = temporaryDirectory();

test('a hold that contradicts its balance is left to the audit, and every other one ends', async () => {
  const open = openBooks(directory);
  const { ledger, books, database } = open;
  for (const id of ['ada', 'bob', 'eve']) {
    await fundAccount(open, id, 100n);
    await ledger.hold(holdOf(`r-${id}`, id, 30n));
  }
  database.connection.run("UPDATE balances SET held = 0 WHERE account_id = 'bob'");

  const command = { live: [], createdBefore: NOW + 1, phase: 'ended' } as const;
  const all = await recoverAll(ledger, { ...command, usdPerMillion: 1n, nowMs: NOW + 2 });
  expect(all).toEqual([
    { requestId: 'r-ada', accountId: 'ada', debited: 0n },
    { requestId: 'r-eve', accountId: 'eve', debited: 0n },
  ]);
  expect(books.explain('r-bob')?.hold).toMatchObject({ phase: 'held', endedAt: null });
  expect(books.audit()).toEqual([expect.objectContaining({ kind: 'held', accountId: 'bob' })]);

  // Put right, it is recovered like any other, and the chains go on.
  database.connection.run("UPDATE balances SET held = 30 WHERE account_id = 'bob'");
  expect(await recoverAll(ledger, { ...command, usdPerMillion: 1n, nowMs: NOW + 3 })).toEqual([
    { requestId: 'r-bob', accountId: 'bob', debited: 0n },
  ]);
  expect(books.audit()).toEqual([]);
  await closeBooks(open);
});
