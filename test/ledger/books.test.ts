// What can be read from the books, and what the tables themselves refuse.

import { describe, expect, test } from 'bun:test';
import { temporaryDirectory } from '../support/database.ts';
import {
  closeBooks,
  fundAccount,
  holdOf,
  NOW,
  openBooks,
  PRICE,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();

describe('the story of a request', () => {
  test('is the hold alone while it is under way, and everything afterwards', async () => {
    const open = openBooks(directory);
    const { ledger } = open;
    await fundAccount(open, 'ada', 100n);
    expect(open.books.explain('r1')).toBeUndefined();

    await ledger.hold(holdOf('r1', 'ada', 30n));
    const hold = {
      requestId: 'r1',
      accountId: 'ada',
      keyId: 'key_1',
      format: 'chat' as const,
      stream: true,
      endUser: 'user-1',
      model: 'swift-1',
      priceVersion: PRICE.version,
      amount: 30n,
      promptTokens: 100,
      outputBound: 8_192,
      phase: 'held' as const,
      upstream: null,
      modelServed: null,
      priceVersionServed: null,
      outputTokens: 0,
      reasoningTokens: 0,
      createdAt: NOW,
      dispatchedAt: null,
      checkpointAt: null,
      endedAt: null,
    };
    const asked = { ...PRICE, model: 'swift-1', firstUsedAt: NOW };
    expect(open.books.explain('r1')).toEqual({
      hold,
      record: undefined,
      entries: [],
      prices: [asked],
      balanceAfter: undefined,
    });

    const cheaper = {
      version: 'swift-0@7',
      input: 1n,
      cachedInput: 1n,
      cacheWrite: 1n,
      output: 1n,
    };
    const served = { model: 'swift-0', upstream: 'spare', price: cheaper };
    await ledger.settle({ ...settleOf('r1', 15n), served });
    const leg = { transferId: 'settle:r1', kind: 'settle' as const, at: NOW + 1, reason: null };
    expect(open.books.explain('r1')).toEqual({
      hold: { ...hold, phase: 'settled', endedAt: NOW + 1 },
      record: {
        requestId: 'r1',
        accountId: 'ada',
        keyId: 'key_1',
        format: 'chat',
        stream: true,
        modelRequested: 'swift-1',
        modelServed: 'swift-0',
        upstream: 'spare',
        outcome: 'completed',
        inputTokens: 90,
        cachedInputTokens: 40,
        cacheWriteTokens: 0,
        outputTokens: 10,
        reasoningTokens: 5,
        usageBasis: 'reported',
        rawUsage: null,
        usageDoubt: null,
        estimatedPromptTokens: 100,
        priceVersionRequested: 'swift-1@1',
        priceVersionServed: 'swift-0@7',
        held: 30n,
        charged: 15n,
        debited: 15n,
        loss: 0n,
        endUser: 'user-1',
        attempts: '[{"upstream":"demo","ms":12}]',
        startedAt: NOW,
        endedAt: NOW + 1,
      },
      entries: [
        { ...leg, id: 3, ledgerAccount: 'operator:revenue', amount: 15n },
        { ...leg, id: 4, ledgerAccount: 'customer:ada', amount: -15n },
      ],
      prices: [{ ...cheaper, model: 'swift-0', firstUsedAt: NOW + 1 }, asked],
      balanceAfter: 85n,
    });
    await closeBooks(open);
  });

  test('of a request that nothing answered has no serving model', async () => {
    const open = openBooks(directory);
    await fundAccount(open, 'ada', 100n);
    await open.ledger.hold(holdOf('r1', 'ada', 30n));
    await open.ledger.release(releaseOf('r1'));
    const story = open.books.explain('r1');
    expect(story?.hold.phase).toBe('released');
    expect(story?.entries).toEqual([]);
    expect(story?.record).toMatchObject({
      modelServed: null,
      upstream: null,
      priceVersionServed: null,
      outcome: 'upstream_failed',
    });
    await closeBooks(open);
  });
});

describe('the tables refuse', () => {
  test.each([
    ['a negative balance', 'UPDATE balances SET posted = -1, held = 0', 'balances_posted'],
    ['more held than posted', 'UPDATE balances SET held = posted + 1', 'balances_held'],
    ['less than nothing held', 'UPDATE balances SET held = -1', 'balances_held'],
    [
      'a balance above the largest',
      'UPDATE balances SET posted = 1000000000000000001',
      'balances_posted',
    ],
    [
      'a balance that overflows',
      'UPDATE balances SET posted = 9223372036854775807 + 1',
      'balances_posted',
    ],
    ['a balance without an account', "INSERT INTO balances VALUES ('eve', 0, 0)", 'FOREIGN KEY'],
    ['a second balance', "INSERT INTO balances VALUES ('ada', 0, 0)", 'UNIQUE'],
    ['a negative hold', 'UPDATE holds SET amount = -1', 'holds_amount'],
    ['an unknown phase', "UPDATE holds SET phase = 'lost'", 'holds_phase'],
    [
      'an entry above the largest',
      "INSERT INTO ledger_entries VALUES (null, 't', 'a', 1000000000000000001, 'credit', 1, null)",
      'ledger_entries_amount',
    ],
    [
      'a leg that is there already',
      'INSERT INTO ledger_entries SELECT null, transfer_id, ledger_account, amount, kind, at, reason FROM ledger_entries',
      'UNIQUE',
    ],
    ['a changed entry', 'UPDATE ledger_entries SET amount = 1', 'append-only'],
    ['a deleted entry', 'DELETE FROM ledger_entries', 'append-only'],
    ['a changed price', 'UPDATE price_versions SET input = 0', 'never changed'],
    ['a deleted price', 'DELETE FROM price_versions', 'never changed'],
  ])('%s', async (_name, statement, reason) => {
    const open = openBooks(directory);
    await fundAccount(open, 'ada', 100n);
    await open.ledger.hold(holdOf('r1', 'ada', 30n));
    expect(() => open.database.connection.run(statement)).toThrow(reason);
    expect(open.books.balance('ada')).toEqual({ posted: 100n, held: 30n, available: 70n });
    await closeBooks(open);
  });
});
