// Recovery over a damaged ledger: one account's hold that cannot be ended blocks neither the holds
// of others nor the start of a server.

import { expect, test } from 'bun:test';
import { micro, usdRate } from '../../src/core/money.ts';
import { recoverAll } from '../../src/ledger/recover.ts';
import { createWriter } from '../../src/ledger/writer.ts';
import {
  describeOnEachDatabase,
  failingAt,
  tamper,
  temporaryDirectory,
} from '../support/database.ts';
import { fundAccount, holdOf, NOW, openBooks } from '../support/ledger.ts';

const directory = temporaryDirectory();

describeOnEachDatabase('recovery', () => {
  test('a hold that contradicts its balance is left to the audit, and every other one ends', async () => {
    await using open = await openBooks(directory);
    const { ledger, books, database } = open;
    for (const id of ['ada', 'bob', 'eve']) {
      await fundAccount(open, id, 100n);
      await ledger.hold(holdOf(`r-${id}`, id, 30n));
    }
    await tamper(database, "UPDATE balances SET held = 0 WHERE account_id = 'bob'");

    const command = { live: [], createdBefore: NOW + 1, phase: 'ended' } as const;
    const all = await recoverAll(ledger, {
      ...command,
      usdPerMillion: usdRate(1n),
      nowMs: NOW + 2,
    });
    expect(all).toEqual([
      { requestId: 'r-ada', accountId: 'ada', debited: micro(0n) },
      { requestId: 'r-eve', accountId: 'eve', debited: micro(0n) },
    ]);
    expect((await books.explain('r-bob'))?.hold).toMatchObject({ phase: 'held', endedAt: null });
    expect(await books.audit()).toEqual([
      expect.objectContaining({ kind: 'held', accountId: 'bob' }),
    ]);

    // Put right, it is recovered like any other, and the chains go on.
    await tamper(database, "UPDATE balances SET held = 30 WHERE account_id = 'bob'");
    expect(
      await recoverAll(ledger, { ...command, usdPerMillion: usdRate(1n), nowMs: NOW + 3 }),
    ).toEqual([{ requestId: 'r-bob', accountId: 'bob', debited: micro(0n) }]);
    expect(await books.audit()).toEqual([]);
  });

  test('only the holds of the named incarnations end, the empty one for holds without any', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 100n);
    for (const boot of ['boot-1', 'boot-2', undefined]) {
      await open.ledger.hold({ ...holdOf(`r-${boot}`, 'ada', 30n), boot });
    }
    const recover = async (...incarnations: string[]) => {
      const command = { live: [], createdBefore: NOW + 1, phase: 'ended' } as const;
      const terms = { usdPerMillion: usdRate(1n), nowMs: NOW + 2 };
      const ended = await recoverAll(open.ledger, { incarnations, ...command, ...terms });
      return ended.map(({ requestId }) => requestId);
    };
    expect(await recover('boot-3')).toEqual([]);
    expect(await recover('boot-1')).toEqual(['r-boot-1']);
    expect(await recover('')).toEqual(['r-undefined']);
    expect(await recover('boot-2')).toEqual(['r-boot-2']);
    expect(await open.books.audit()).toEqual([]);
  });

  test('a disk that fails ends a recovery, which leaves nothing half done', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 100n);
    await open.ledger.hold(holdOf('r1', 'ada', 30n));
    const failing = failingAt(open.database, 'requests');
    const recover = {
      name: 'recover',
      command: {
        live: [],
        createdBefore: NOW + 1,
        phase: 'ended',
        usdPerMillion: usdRate(1n),
        nowMs: NOW,
      },
    } as const;
    expect(await createWriter(failing)([recover])).toMatchObject([
      { ok: false, error: { name: 'LedgerUnavailable' } },
    ]);
    expect((await open.books.explain('r1'))?.hold).toMatchObject({ phase: 'held', endedAt: null });
  });
});
