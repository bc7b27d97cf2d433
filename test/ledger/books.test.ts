// What can be read from the ledger, and what its tables reject.

import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../../src/core/calendar.ts';
import { requestIdOf } from '../../src/core/id.ts';
import { micro, tokenCount, usdRate, ZERO } from '../../src/core/money.ts';
import { UNPAID_ROWS_MAX } from '../../src/ledger/memory.ts';
import { openHolds, requests } from '../../src/store/money-tables.ts';
import { ledgerEntries } from '../../src/store/money-views.ts';
import { describeOnEachDatabase, tamper, temporaryDirectory } from '../support/database.ts';
import {
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

const columnsOf = (table: SQLiteTable): string[] =>
  getTableConfig(table)
    .columns.map(({ name }) => name)
    .filter((name) => name !== 'number');

const COLUMNS = { open_holds: columnsOf(openHolds), requests: columnsOf(requests) };

describeOnEachDatabase('the books', () => {
  test('open holds are counted and added up, those that have ended are not', async () => {
    await using open = await openBooks(directory);
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
  });

  test('an account has 500 rows a day for requests that cost nothing, and further ones end without', async () => {
    await using open = await openBooks(directory);
    const { ledger, books, database } = open;
    for (const account of ['ada', 'bob']) await fundAccount(open, account, 100n);
    const release = async (account: string, id: string, nowMs = NOW) => {
      await ledger.hold({ ...holdOf(id, account, 1n), nowMs });
      return ledger.release({ ...releaseOf(id), nowMs });
    };
    const rows = async (): Promise<number> =>
      (await database.rows<{ readonly id: Uint8Array }>(sql`select id from requests`)).length;
    for (let index = 0; index < UNPAID_ROWS_MAX; index += 1) await release('ada', `r${index}`);
    expect(await rows()).toBe(UNPAID_ROWS_MAX);
    const uncharged = { debited: ZERO, loss: ZERO };
    expect(await release('ada', 'more')).toEqual({
      ...{ ...uncharged, available: micro(100n), counted: true },
    });
    expect(await books.openHolds()).toEqual({ count: 0, amount: ZERO });
    expect(await books.explain('more')).toBeUndefined();
    // Another account, another day and a charge have rows as ever, and so has a crash.
    expect(await release('bob', 'other')).toEqual({ ...uncharged, available: micro(100n) });
    expect(await release('ada', 'later', NOW + DAY_MS)).toEqual({
      ...{ ...uncharged, available: micro(100n) },
    });
    await ledger.hold(holdOf('paid', 'ada', 20n));
    await ledger.settle(settleOf('paid', 15n));
    expect(await rows()).toBe(UNPAID_ROWS_MAX + 3);
    const named = await database.rows<{ readonly id: Uint8Array }>(
      sql`select id from requests where end_user is not null`,
    );
    expect(named.map(({ id }) => requestIdOf(id))).toEqual(['paid']);
  }, 60_000);

  test('every transfer has two legs that sum to zero', async () => {
    await using open = await openBooks(directory);
    const { ledger, database } = open;
    await fundAccount(open, 'ada', 100n);
    await ledger.credit({ ...creditOf('gift', 'ada', 7n), kind: 'grant' });
    await ledger.credit({ ...creditOf('wrong', 'ada', -2n), kind: 'adjustment' });
    const code = "'digest', 'm', 5, 'gift', 1";
    await tamper(
      database,
      `INSERT INTO redemption_codes (digest, masked, amount, reason, created_at) VALUES (${code})`,
    );
    await ledger.redeem({ digest: 'digest', accountId: 'ada', nowMs: NOW });
    await ledger.hold(holdOf('lost', 'ada', 10n));
    await ledger.settle(settleOf('lost', 1_000n));
    const entries = await database.db.select().from(ledgerEntries).all();
    const transfers = Map.groupBy(entries, ({ requestId, transferId, kind }) =>
      transferId === null ? `${kind} ${requestId}` : `${kind} ${transferId}`,
    );
    const legs = [...transfers].map(([transfer, own]) => [
      transfer,
      Object.fromEntries(own.map(({ ledgerAccount, amount }) => [ledgerAccount, Number(amount)])),
    ]);
    expect(Object.fromEntries(legs)).toEqual({
      'credit credit:opening-ada': { 'customer:ada': 100, 'operator:credits': -100 },
      'grant credit:gift': { 'customer:ada': 7, 'operator:promotion': -7 },
      'adjustment credit:wrong': { 'customer:ada': -2, 'operator:adjustments': 2 },
      'redemption redemption:digest': { 'customer:ada': 5, 'operator:promotion': -5 },
      'settle lost': { 'customer:ada': -110, 'operator:revenue': 110 },
      'loss lost': { 'operator:loss': -890, 'operator:revenue': 890 },
    });
    expect(entries).toHaveLength(12);
  });

  describe('the story of a request', () => {
    test('is the hold alone while it is running, and everything afterwards', async () => {
      await using open = await openBooks(directory);
      const { ledger } = open;
      await fundAccount(open, 'ada', 100n);
      expect(await open.books.explain('r1')).toBeUndefined();

      await ledger.hold(holdOf('r1', 'ada', 30n));
      const hold = {
        requestId: 'r1',
        accountId: 'ada',
        keyId: 'key_1',
        model: 'swift-1',
        priceVersion: PRICE.version,
        amount: micro(30n),
        promptTokens: tokenCount(100),
        outputBound: tokenCount(8_192),
        startedAt: NOW,
        phase: 'held' as const,
        checkpoint: undefined,
        endedAt: null,
      };
      const price = { number: expect.any(Number), model: 'swift-1', firstUsedAt: NOW, terms: null };
      const asked = { ...PRICE, ...price };
      expect(await open.books.explain('r1')).toEqual({
        hold: expect.objectContaining(hold),
        record: undefined,
        entries: [],
        prices: [asked],
        receipt: undefined,
      });

      const cheaper = flatPrice('swift-0@7', 1n);
      const served = { model: 'swift-0', upstream: 'spare', price: cheaper };
      const passed = { outputTokens: 3, reasoningTokens: 1 };
      await ledger.checkpoint({ requestId: 'r1', served, ...passed, nowMs: NOW + 1 });
      const dearer = { ...cheaper, ...price, model: 'swift-0', firstUsedAt: NOW + 1 };
      expect(await open.books.explain('r1')).toMatchObject({
        hold: {
          ...hold,
          phase: 'delivering',
          checkpoint: { at: NOW + 1, upstream: 'spare', modelServed: 'swift-0', ...passed },
        },
        prices: [dearer, asked],
      });

      const rawUsage = '{"prompt_tokens":90,"completion_tokens":10}';
      await ledger.settle({ ...settleOf('r1', 15n), served, rawUsage });
      const leg = { requestId: 'r1', transferId: null, kind: 'settle' as const, reason: null };
      const legs = [
        { ...leg, ledgerAccount: 'customer:ada', amount: micro(-15n), at: NOW + 1 },
        { ...leg, ledgerAccount: 'operator:revenue', amount: micro(15n), at: NOW + 1 },
      ];
      const story = await open.books.explain('r1');
      expect(story).toEqual({
        hold: expect.objectContaining({ ...hold, phase: 'settled', endedAt: NOW + 1 }),
        record: {
          number: 1,
          requestId: 'r1',
          accountId: 'ada',
          keyId: 'key_1',
          format: 'chat',
          stream: true,
          modelRequested: 'swift-1',
          modelServed: 'swift-0',
          upstream: 'spare',
          outcome: 'completed',
          ending: 'settled',
          inputTokens: 90,
          cachedInputTokens: 40,
          cacheWriteTokens: 0,
          outputTokens: 10,
          reasoningTokens: 5,
          usageBasis: 'reported',
          usageDoubt: null,
          details: {},
          rawUsage,
          estimatedPromptTokens: tokenCount(100),
          outputBound: tokenCount(8_192),
          priceVersionRequested: 'swift-1@1',
          priceVersionServed: 'swift-0@7',
          held: micro(30n),
          charged: micro(15n),
          debited: micro(15n),
          loss: micro(0n),
          endUser: 'user-1',
          attempts: '[{"upstream":"demo","ms":12}]',
          failure: null,
          startedAt: NOW,
          endedAt: NOW + 1,
          usdPerMillion: usdRate(1_000_000n),
          // The first receipt is of the credit.
          sequence: 2,
          posted: micro(85n),
          reserved: micro(0n),
        },
        entries: expect.arrayContaining(legs),
        prices: [dearer, asked],
        receipt: { sequence: 2, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      });
      expect(story?.entries).toHaveLength(2);
    });

    test('of a request that nothing answered has no serving model', async () => {
      await using open = await openBooks(directory);
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
    });
  });

  /** A copy of the hold, or of the request, that is there, with another value in one column. */
  function copyOf(table: 'open_holds' | 'requests', column: string, value: string): string {
    const own: Record<string, string> = { id: '{copy}', [column]: value };
    const rest = COLUMNS[table].filter((name) => own[name] === undefined);
    const columns = [...Object.keys(own), ...rest].map((name) => `"${name}"`).join(', ');
    const values = [...Object.values(own), ...rest.map((name) => `"${name}"`)].join(', ');
    const place = table === 'requests' ? 'ended' : 'r1';
    return `INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${table} WHERE id = {${place}}`;
  }

  const NEW_CODE =
    'INSERT INTO redemption_codes (digest, masked, amount, reason, created_at, redeemed_at, redeemed_by)';
  const NEW_PRICE =
    'INSERT INTO price_versions (version, model, input, cached_input, cache_write, output, first_used_at)';
  const MOVEMENT = 'account, kind, amount, at, reason, posted, reserved, hash';

  /**
   * A request that delivers, one that has ended, and a code that was used beside one that is open.
   */
  async function bookOneOfEach({ ledger, database }: OpenBooks): Promise<void> {
    for (const id of ['delivering', 'ended']) await ledger.hold(holdOf(id, 'ada', 0n));
    const served = { model: 'swift-1', upstream: 'demo', price: PRICE };
    const passed = { outputTokens: 3, reasoningTokens: 1 };
    await ledger.checkpoint({ requestId: 'delivering', served, ...passed, nowMs: NOW });
    await ledger.settle(settleOf('ended', 15n));
    await ledger.credit(creditOf('again', 'ada', 15n));
    await tamper(database, `${NEW_CODE} VALUES ('open', 'm', 1, 'gift', 1, null, null)`);
    await tamper(database, `${NEW_CODE} VALUES ('used', 'm', 1, 'gift', 1, 1, 'ada')`);
  }

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
        "INSERT INTO balances (account_id, posted, held) VALUES ('eve', 0, 0)",
        'FOREIGN KEY',
      ],
      [
        'a second balance',
        "INSERT INTO balances (account_id, posted, held) VALUES ('ada', 0, 0)",
        'UNIQUE',
      ],
      ['fewer receipts than before', 'UPDATE balances SET sequence = 1', 'never goes back'],
      ['a balance of another number', 'UPDATE balances SET number = 9', 'never goes back|identity'],
      ['a deleted balance', 'DELETE FROM balances', 'never deleted'],
      [
        'a hold above the largest',
        'UPDATE open_holds SET amount = 1000000000000000001, worst = 1000000000000000001 WHERE id = {r1}',
        'open_holds_amount',
      ],
      [
        'a hold of more than its worst case',
        'UPDATE open_holds SET amount = 31 WHERE id = {r1}',
        'open_holds_sound',
      ],
      [
        'a hold that shrinks',
        'UPDATE open_holds SET amount = 29 WHERE id = {r1}',
        'never goes back',
      ],
      [
        'a hold of another account',
        'UPDATE open_holds SET account = 9 WHERE id = {r1}',
        'never goes back',
      ],
      [
        'a hold of another request',
        'UPDATE open_holds SET id = {r2} WHERE id = {r1}',
        'never goes back',
      ],
      [
        'fewer tokens than before',
        'UPDATE open_holds SET output_tokens = 2 WHERE id = {delivering}',
        'never goes back',
      ],
      [
        'less thinking than before',
        'UPDATE open_holds SET reasoning_tokens = 0 WHERE id = {delivering}',
        'never goes back',
      ],
      [
        'a checkpoint that is taken back',
        'UPDATE open_holds SET checkpoint_at = null WHERE id = {delivering}',
        'never goes back',
      ],
      [
        'a hold that ends without its request',
        'DELETE FROM open_holds WHERE id = {delivering}',
        'ends with its request',
      ],
      ['a hold that has begun', copyOf('open_holds', 'checkpoint_at', '1'), 'does not begin'],
      ['a hold with output', copyOf('open_holds', 'output_tokens', '1'), 'does not begin'],
      ['a hold of no prompt', copyOf('open_holds', 'prompt_tokens', '-1'), 'open_holds_sound'],
      ['a changed request', 'UPDATE requests SET loss = 0', 'append-only'],
      ['a deleted request', 'DELETE FROM requests', 'append-only'],
      ['a request that lost more than its charge', copyOf('requests', 'loss', '16'), '_sound'],
      ['a request of a negative loss', copyOf('requests', 'loss', '-1'), '_sound'],
      ['a request of negative tokens', copyOf('requests', 'output_tokens', '-1'), '_sound'],
      ['a second receipt of a number', copyOf('requests', 'key', '1'), 'UNIQUE'],
      [
        'a request that ends again',
        copyOf('requests', 'sequence', '9').replace('{copy}', '{ended}'),
        'UNIQUE',
      ],
      ['a changed movement', 'UPDATE movements SET amount = 1', 'append-only'],
      ['a deleted movement', 'DELETE FROM movements', 'append-only'],
      [
        'a movement that is there already',
        `INSERT INTO movements (transfer_id, sequence, ${MOVEMENT}) SELECT transfer_id, 9, ${MOVEMENT} FROM movements WHERE sequence = 1`,
        'UNIQUE',
      ],
      [
        'a movement above the largest',
        `INSERT INTO movements (transfer_id, sequence, ${MOVEMENT}) SELECT 'new', 9, account, kind, 1000000000000000001, at, reason, posted, reserved, hash FROM movements WHERE sequence = 1`,
        'movements_amount',
      ],
      ['a code of another worth', 'UPDATE redemption_codes SET amount = 2', 'keeps its worth'],
      [
        'a code that is used, but by no account',
        'UPDATE redemption_codes SET redeemed_at = 1 WHERE redeemed_at IS NULL',
        'keeps its worth',
      ],
      [
        'a code that is used and revoked',
        "UPDATE redemption_codes SET redeemed_at = 1, redeemed_by = 'ada', revoked_at = 1 WHERE redeemed_at IS NULL",
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
        `${NEW_CODE} VALUES ('n', 'n', 0, 'r', 1, null, null)`,
        'redemption_codes_amount',
      ],
      [
        'a negative price',
        `${NEW_PRICE} VALUES ('n', 'm', -1, 0, 0, 1, 0)`,
        'price_versions_sound',
      ],
      [
        'a second price of a version',
        `${NEW_PRICE} VALUES ('${PRICE.version}', 'm', 1, 0, 0, 1, 0)`,
        'UNIQUE',
      ],
      ['a changed price', 'UPDATE price_versions SET input = 0', 'never changed'],
      ['a deleted price', 'DELETE FROM price_versions', 'never changed'],
      ['a changed text', "UPDATE texts SET text = 'other'", 'never changed'],
      ['a deleted text', 'DELETE FROM texts', 'never changed'],
      ['a text that is there already', "INSERT INTO texts (text) VALUES ('swift-1')", 'UNIQUE'],
    ])('%s', async (_name, statement, reason) => {
      await using open = await openBooks(directory);
      await fundAccount(open, 'ada', 100n);
      await bookOneOfEach(open);
      await open.ledger.hold(holdOf('r1', 'ada', 30n));
      await expect(tamper(open.database, statement)).rejects.toThrow(new RegExp(reason, 'i'));
      expect(await open.books.balance('ada')).toEqual({
        posted: micro(100n),
        held: micro(30n),
        available: micro(70n),
      });
    });
  });
});
