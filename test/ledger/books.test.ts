// What can be read from the books, and what the tables themselves refuse.

import { describe, expect, test } from 'bun:test';
import { micro, tokenCount, ZERO } from '../../src/core/money.ts';
import { describeOnEachDatabase, tamper, temporaryDirectory } from '../support/database.ts';
import {
  closeBooks,
  creditOf,
  fundAccount,
  holdOf,
  NOW,
  type OpenBooks,
  openBooks,
  PRICE,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';
import { flatPrice } from '../support/price.ts';

const directory = temporaryDirectory();

describeOnEachDatabase('the books', () => {
  test('open holds are counted and added up, those that have ended are not', async () => {
    const open = await openBooks(directory);
    const { ledger, books } = open;
    expect(await books.openHolds()).toEqual({ count: 0, amount: ZERO });
    await fundAccount(open, 'ada', 100n);
    for (const [id, amount] of [
      ['r1', 30n],
      ['r2', 12n],
      ['r3', 5n],
    ] as const)
      await ledger.hold(holdOf(id, 'ada', amount));
    await ledger.release(releaseOf('r3'));
    expect(await books.openHolds()).toEqual({ count: 2, amount: micro(42n) });
    await closeBooks(open);
  });

  describe('the story of a request', () => {
    test('is the hold alone while it is under way, and everything afterwards', async () => {
      const open = await openBooks(directory);
      const { ledger } = open;
      await fundAccount(open, 'ada', 100n);
      expect(await open.books.explain('r1')).toBeUndefined();

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
        amount: micro(30n),
        worst: micro(30n),
        promptTokens: tokenCount(100),
        outputBound: tokenCount(8_192),
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
        boot: '',
      };
      const asked = { ...PRICE, model: 'swift-1', firstUsedAt: NOW };
      expect(await open.books.explain('r1')).toEqual({
        hold,
        record: undefined,
        entries: [],
        prices: [asked],
        balanceAfter: undefined,
        receipt: undefined,
      });

      const cheaper = flatPrice('swift-0@7', 1n);
      const served = { model: 'swift-0', upstream: 'spare', price: cheaper };
      await ledger.settle({ ...settleOf('r1', 15n), served });
      const leg = { transferId: 'settle:r1', kind: 'settle' as const, at: NOW + 1, reason: null };
      expect(await open.books.explain('r1')).toEqual({
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
          held: micro(30n),
          charged: micro(15n),
          debited: micro(15n),
          loss: micro(0n),
          endUser: 'user-1',
          attempts: '[{"upstream":"demo","ms":12}]',
          startedAt: NOW,
          endedAt: NOW + 1,
        },
        entries: [
          { ...leg, id: 3, ledgerAccount: 'operator:revenue', amount: micro(15n) },
          { ...leg, id: 4, ledgerAccount: 'customer:ada', amount: micro(-15n) },
        ],
        prices: [{ ...cheaper, model: 'swift-0', firstUsedAt: NOW + 1 }, asked],
        balanceAfter: micro(85n),
        // The first one is of the credit.
        receipt: { sequence: 2, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      });
      await closeBooks(open);
    });

    test('of a request that nothing answered has no serving model', async () => {
      const open = await openBooks(directory);
      await fundAccount(open, 'ada', 100n);
      await open.ledger.hold(holdOf('r1', 'ada', 30n));
      await open.ledger.release(releaseOf('r1'));
      const story = await open.books.explain('r1');
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

  const NEW_HOLD = `INSERT INTO holds (request_id, account_id, key_id, model, price_version, amount,
  output_bound, phase, created_at, ended_at, prompt_tokens)
  VALUES ('new', 'ada', 'k', 'm', 'p', 1, 64,`;

  /** A copy of the usage record that is there, with another value in one column. */
  function changedRecord(column: string, value: number): string {
    const columns =
      'account_id, key_id, format, stream, model_requested, outcome, cached_input_tokens, cache_write_tokens, reasoning_tokens, usage_basis, estimated_prompt_tokens, price_version_requested, held, attempts, started_at, ended_at, input_tokens, debited';
    const rest = ['charged', 'loss', 'output_tokens'].filter((name) => name !== column);
    return `INSERT INTO usage_records (request_id, ${columns}, ${rest}, ${column})
    SELECT 'copy', ${columns}, ${rest}, ${value} FROM usage_records`;
  }

  /** A hold that is dispatched, one that has ended, and a code that was used beside one that is open. */
  async function bookOneOfEach({ ledger, database }: OpenBooks): Promise<void> {
    for (const id of ['dispatched', 'ended']) await ledger.hold(holdOf(id, 'ada', 0n));
    const served = { model: 'swift-1', upstream: 'demo', price: PRICE };
    const progress = { outputTokens: 1, reasoningTokens: 0, nowMs: NOW };
    await ledger.checkpoint({ requestId: 'dispatched', served, ...progress });
    await ledger.settle(settleOf('ended', 15n));
    await ledger.credit(creditOf('again', 'ada', 15n));
    const code = "'m', 1, 'gift', 1, null, null";
    await tamper(database, `INSERT INTO redemption_codes VALUES ('open', ${code}, null, null)`);
    await tamper(database, `INSERT INTO redemption_codes VALUES ('used', ${code}, 1, 'ada')`);
  }

  const ENTRY = 'transfer_id, ledger_account, amount, kind, at, reason';
  const RECEIPT = 'account_id, sequence, subject, at, body, hash';

  describe('the tables refuse', () => {
    test.each([
      ['a negative balance', 'UPDATE balances SET posted = -1, held = 0', 'balances_posted|_held'],
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
        'balances_posted|does not fit',
      ],
      [
        'a balance without an account',
        "INSERT INTO balances VALUES ('eve', 0, 0, 0)",
        'FOREIGN KEY',
      ],
      ['a second balance', "INSERT INTO balances VALUES ('ada', 0, 0, 0)", 'UNIQUE'],
      [
        'a hold above the largest',
        "UPDATE holds SET amount = 1000000000000000001 WHERE request_id = 'r1'",
        'holds_amount',
      ],
      [
        'a hold that shrinks',
        "UPDATE holds SET amount = 29 WHERE request_id = 'r1'",
        'never goes back',
      ],
      [
        'a hold of another account',
        "UPDATE holds SET account_id = 'bob' WHERE request_id = 'r1'",
        'never goes back',
      ],
      [
        'fewer tokens than before',
        "UPDATE holds SET output_tokens = -1 WHERE request_id = 'r1'",
        'never goes back',
      ],
      [
        'less thinking than before',
        "UPDATE holds SET reasoning_tokens = -1 WHERE request_id = 'r1'",
        'never goes back',
      ],
      [
        'an unknown phase',
        "UPDATE holds SET phase = 'lost', ended_at = 1 WHERE request_id = 'r1'",
        'holds_phase',
      ],
      [
        'an end without a phase',
        "UPDATE holds SET ended_at = 1 WHERE request_id = 'r1'",
        'never goes back',
      ],
      [
        'a phase without an end',
        "UPDATE holds SET phase = 'settled' WHERE request_id = 'r1'",
        'never goes back',
      ],
      [
        'a phase that goes back',
        "UPDATE holds SET phase = 'held' WHERE request_id = 'dispatched'",
        'never goes back',
      ],
      [
        'a hold that ends again',
        "UPDATE holds SET ended_at = 3 WHERE request_id = 'ended'",
        'a hold ends once',
      ],
      ['a deleted hold', 'DELETE FROM holds', 'never deleted'],
      ['a hold that has begun', `${NEW_HOLD} 'dispatched', 1, null, 1)`, 'does not begin'],
      ['a hold that has ended', `${NEW_HOLD} 'held', 1, 2, 1)`, 'does not begin'],
      ['a hold of no prompt', `${NEW_HOLD} 'held', 1, null, -1)`, 'does not begin'],
      ['a changed usage record', 'UPDATE usage_records SET loss = 0', 'append-only'],
      ['a deleted usage record', 'DELETE FROM usage_records', 'append-only'],
      ['a record that does not add up', changedRecord('charged', 16), 'does not add up'],
      ['a record of a negative loss', changedRecord('loss', -1), 'does not add up'],
      ['a record of negative tokens', changedRecord('output_tokens', -1), 'does not add up'],
      ['a changed receipt', "UPDATE receipts SET body = ''", 'append-only'],
      ['a deleted receipt', 'DELETE FROM receipts', 'append-only'],
      [
        'a second receipt',
        `INSERT INTO receipts (${RECEIPT}) SELECT ${RECEIPT} FROM receipts`,
        'UNIQUE',
      ],
      ['a code of another worth', 'UPDATE redemption_codes SET amount = 2', 'keeps its worth'],
      [
        'a code that somebody used, but nobody',
        'UPDATE redemption_codes SET redeemed_at = 1',
        'keeps its worth',
      ],
      [
        'a code that is used and revoked',
        "UPDATE redemption_codes SET redeemed_at = 1, redeemed_by = 'ada', revoked_at = 1",
        'keeps its worth',
      ],
      [
        'a code that is used again',
        "UPDATE redemption_codes SET redeemed_by = 'bob' WHERE digest = 'used'",
        'used or revoked once',
      ],
      ['a deleted code', 'DELETE FROM redemption_codes', 'never deleted'],
      [
        'a code of no worth',
        "INSERT INTO redemption_codes VALUES ('n', 'n', 0, 'r', 1, null, null, null, null)",
        'redemption_codes_amount',
      ],
      [
        'a negative price',
        "INSERT INTO price_versions VALUES ('n', 'm', -1, 0, 0, 1, 0)",
        'not negative',
      ],
      [
        'an entry above the largest',
        `INSERT INTO ledger_entries (${ENTRY}) VALUES ('t', 'a', 1000000000000000001, 'credit', 1, null)`,
        'ledger_entries_amount',
      ],
      [
        'a leg that is there already',
        `INSERT INTO ledger_entries (${ENTRY}) SELECT ${ENTRY} FROM ledger_entries`,
        'UNIQUE',
      ],
      ['a changed entry', 'UPDATE ledger_entries SET amount = 1', 'append-only'],
      ['a deleted entry', 'DELETE FROM ledger_entries', 'append-only'],
      ['a changed price', 'UPDATE price_versions SET input = 0', 'never changed'],
      ['a deleted price', 'DELETE FROM price_versions', 'never changed'],
    ])('%s', async (_name, statement, reason) => {
      const open = await openBooks(directory);
      await fundAccount(open, 'ada', 100n);
      await bookOneOfEach(open);
      await open.ledger.hold(holdOf('r1', 'ada', 30n));
      await expect(tamper(open.database, statement)).rejects.toThrow(new RegExp(reason, 'i'));
      expect(await open.books.balance('ada')).toEqual({
        posted: micro(100n),
        held: micro(30n),
        available: micro(70n),
      });
      await closeBooks(open);
    });
  });
});
