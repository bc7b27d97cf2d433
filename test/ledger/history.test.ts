// What a new process reads from the ledger about the requests of the previous one.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DAY_MS, utcMonth } from '../../src/core/calendar.ts';
import { tokenCount } from '../../src/core/money.ts';
import { SLICE_TOKENS } from '../../src/core/price.ts';
import { createHistory } from '../../src/ledger/history.ts';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../support/database.ts';
import {
  closeBooks,
  fundAccount,
  holdOf,
  NOW,
  type OpenBooks,
  openBooks,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';
import { addRecords, DAY, HOUR_MS, usageRecord } from '../support/usage.ts';

const directory = temporaryDirectory();

describeOnEachDatabase('history', () => {
  let open: OpenBooks;

  beforeAll(async () => {
    open = await openBooks(directory);
  });

  afterAll(() => closeBooks(open));

  test('a database without requests has no past', async () => {
    const history = createHistory(open.database);
    expect(await history.admittedSince(0)).toEqual([]);
    expect(await history.mark()).toBe(0);
    expect(await history.usedBefore('ada', { fromMs: 0, untilMs: NOW }, 0)).toBe(0);
  });

  test('what was admitted is there however it ended, newest first, as its window was charged', async () => {
    const { ledger, database } = open;
    await fundAccount(open, 'ada', 1_000n);
    await fundAccount(open, 'bob', 1_000n);
    const admit = (requestId: string, account: string, nowMs: number, outputBound = 8_192) =>
      ledger.hold({
        ...holdOf(requestId, account, 1n),
        nowMs,
        outputBound: tokenCount(outputBound),
      });
    await admit('r1', 'ada', NOW - 2);
    await admit('r2', 'ada', NOW + 5, 50);
    await admit('r3', 'bob', NOW);
    await admit('r4', 'ada', NOW - 1);
    await ledger.settle(settleOf('r1', 15n));
    await ledger.release(releaseOf('r4'));
    const of = (accountId: string, startedAt: number, tokens: number) => ({
      accountId,
      model: 'swift-1',
      startedAt,
      tokens,
    });
    const { admittedSince } = createHistory(database);
    const recent = [
      of('ada', NOW + 5, 150),
      of('bob', NOW, 100 + SLICE_TOKENS),
      of('ada', NOW - 1, 100 + SLICE_TOKENS),
    ];
    expect(await admittedSince(NOW - 1)).toEqual(recent);
    const all = [...recent, of('ada', NOW - 2, 100 + SLICE_TOKENS)];
    expect(await admittedSince(NOW - 2)).toEqual(all);
    for (const accountId of ['ada', 'bob', 'eve']) {
      const own = (each: { readonly accountId: string }) => each.accountId === accountId;
      expect(await admittedSince(NOW - 2, accountId)).toEqual(all.filter(own));
      expect(await admittedSince(NOW - 1, accountId)).toEqual(recent.filter(own));
    }
    // What was refused for its price was never let in.
    await ledger.hold({ ...holdOf('r5', 'ada', 10_000n), nowMs: NOW });
    expect(await admittedSince(NOW - 1)).toEqual(recent);
  });

  test('the last minute is all there, however many requests have ended in it', async () => {
    const { database } = open;
    const since = NOW + 3_600_000;
    const records = Array.from({ length: 1_300 }, (_, index) =>
      usageRecord({ accountId: 'fay', startedAt: since - 50 + index, endedAt: since + 2_000 }),
    );
    // One that was booked late, long after it had ended.
    const late = usageRecord({ accountId: 'fay', startedAt: since - 9_000 });
    await database.transaction(() => addRecords(database, [...records, late]));
    const { admittedSince } = createHistory(database);
    const started = (await admittedSince(since)).map(({ startedAt }) => startedAt);
    expect(started).toEqual(Array.from({ length: 1_250 }, (_, index) => since + 1_249 - index));
    expect(await admittedSince(since, 'fay')).toEqual(await admittedSince(since));
    expect(await admittedSince(since + 2_001)).toEqual([]);
  });

  test('what was used is summed by account and span, as it was at the mark', async () => {
    const { ledger, database } = open;
    const history = createHistory(database);
    const used = (fromMs: number, untilMs: number, mark: number, account = 'ada') =>
      history.usedBefore(account, { fromMs, untilMs }, mark);
    const before = await history.mark();
    expect(await used(0, NOW + 99, before)).toBe(100);
    await ledger.settle(settleOf('r2', 15n));
    await ledger.settle(settleOf('r3', 15n));
    const after = await history.mark();
    expect(after).toBeGreaterThan(before);
    expect(await used(0, NOW + 99, before)).toBe(100);
    expect(await used(0, NOW + 99, after)).toBe(200);
    expect([await used(NOW - 2, NOW + 5, after), await used(NOW - 2, NOW + 6, after)]).toEqual([
      100, 200,
    ]);
    expect([await used(NOW - 1, NOW + 99, after), await used(NOW - 2, NOW - 2, after)]).toEqual([
      100, 0,
    ]);
    expect([await used(0, NOW + 99, after, 'bob'), await used(0, NOW + 99, after, 'eve')]).toEqual([
      100, 0,
    ]);
  });

  test('what was used is the same however much of it the series have, and at marks that they have passed', async () => {
    const { database } = open;
    const history = createHistory(database);
    const records = Array.from({ length: 12 }, (_, index) =>
      usageRecord({
        accountId: index % 3 === 0 ? 'bea' : 'dan',
        inputTokens: 2 ** index,
        outputTokens: 0,
        startedAt: DAY + (index % 4) * 12 * HOUR_MS,
      }),
    );
    await addRecords(database, records);
    const last = await history.mark();
    const usedAt = (mark: number) =>
      Promise.all(
        ['bea', 'dan'].flatMap((accountId) => [
          history.usedBefore(accountId, { fromMs: DAY, untilMs: DAY + DAY_MS }, mark),
          history.usedBefore(accountId, utcMonth(DAY), mark),
        ]),
      );
    const expected = (count: number) => {
      const sum = (accountId: string, untilMs: number) =>
        records
          .slice(0, count)
          .filter((each) => each.accountId === accountId && each.startedAt < untilMs)
          .reduce((tokens, each) => tokens + each.inputTokens, 0);
      return ['bea', 'dan'].flatMap((id) => [sum(id, DAY + DAY_MS), sum(id, DAY + 30 * DAY_MS)]);
    };
    const rollUp = createRollUp(database);
    let added = 0;
    do {
      for (const count of [0, 5, 12]) {
        expect(await usedAt(last - records.length + count)).toEqual(expected(count));
      }
      added = await rollUp.step(4);
    } while (added > 0);
    expect(await rollUp.behind()).toBe(0);
  });

  test('many who ask for a mark at once ask the books twice, and none gets an older answer', async () => {
    const { database } = open;
    let asks = 0;
    const history = createHistory({
      ...database,
      settled: (read) => {
        asks += 1;
        return database.settled(read);
      },
    });
    const before = await history.mark();
    asks = 0;
    const asked = Array.from({ length: 50 }, () => history.mark());
    expect(await Promise.all(asked)).toEqual(asked.map(() => before));
    expect(asks).toBe(2);
    expect(await history.mark()).toBe(before);
    expect(asks).toBe(3);
  });

  test('a mark that fails does so for those who waited for it, and the next one is requested again', async () => {
    const { database } = open;
    let fails = true;
    const history = createHistory({
      ...database,
      settled: (read) => (fails ? Promise.reject(new Error('away')) : database.settled(read)),
    });
    const asked = await Promise.allSettled([history.mark(), history.mark(), history.mark()]);
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    fails = false;
    expect(await history.mark()).toBeGreaterThanOrEqual(0);
  });
});
