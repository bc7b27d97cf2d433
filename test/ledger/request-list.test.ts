// The paged list of requests equals a scan of every record, for any filter and any state of the
// roll-up.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { micro } from '../../src/core/money.ts';
import type { RequestFailure } from '../../src/core/request-failure.ts';
import type { Received } from '../../src/ledger/request-kinds.ts';
import { createRequestList, type RequestFilter } from '../../src/ledger/request-list.ts';
import type { RequestPlace } from '../../src/ledger/request-pieces.ts';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { createQueries } from '../../src/store/database.ts';
import type { Ask } from '../../src/store/writer/protocol.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  sqliteTest,
  temporaryDirectory,
} from '../support/database.ts';
import { turnsDuring } from '../support/turns.ts';
import {
  addRecords,
  DAY,
  HOUR_MS,
  someUsage,
  type UsageRecord,
  usageRecord,
} from '../support/usage.ts';

const directory = temporaryDirectory();

const ENDINGS: Readonly<Record<string, string>> = {
  upstream_failed: 'failed',
  gateway_failed: 'failed',
};

const FAILURES: RequestFailure[] = ['timeout', 'cut:interrupted', 'bad_request'];

const instant = fc.integer({ min: DAY - 3 * HOUR_MS, max: DAY + 52 * HOUR_MS });

const someFilter: fc.Arbitrary<RequestFilter> = fc.record(
  {
    model: fc.constantFrom('swift-1', 'swift-0', 'deep-1', 'none'),
    served: fc.constantFrom('swift-1', 'swift-0', 'none'),
    requested: fc.constantFrom('swift-1', 'deep-1', 'none'),
    keyId: fc.constantFrom('key_1', 'key_2'),
    outcome: fc.constantFrom('completed', 'stopped_balance', 'client_cancelled', 'failed'),
    received: fc.record({
      answers: fc.boolean(),
      failures: fc.subarray(FAILURES),
    }),
    upstream: fc.constantFrom('demo', 'none'),
    endUser: fc.constantFrom('', 'ann', 'ben', 'unknown'),
    fromMs: instant,
    untilMs: instant,
  },
  { requiredKeys: [] },
);

/** Failed requests differ in what their client received; of some it is unknown. */
function failureOf({ outcome, inputTokens = 0 }: Partial<UsageRecord>): RequestFailure | null {
  if (outcome !== 'upstream_failed' && outcome !== 'gateway_failed') return null;
  return ([...FAILURES, null] as const)[inputTokens % (FAILURES.length + 1)] ?? null;
}

function matchesReceived(
  { outcome, failure }: UsageRecord,
  { answers, failures }: Received,
): boolean {
  if (failure !== null) return failures.includes(failure);
  return answers && (outcome === 'completed' || outcome === 'stopped_balance');
}

function matches(record: UsageRecord, filter: RequestFilter): boolean {
  const { model, served, requested, keyId, outcome, received, upstream, endUser } = filter;
  const { fromMs, untilMs } = filter;
  return (
    record.accountId === 'acct_ada' &&
    (model === undefined || [record.modelServed, record.modelRequested].includes(model)) &&
    (served === undefined || served === (record.modelServed ?? record.modelRequested)) &&
    (requested === undefined || requested === record.modelRequested) &&
    (upstream === undefined || upstream === record.upstream) &&
    (received === undefined || matchesReceived(record, received)) &&
    (keyId === undefined || keyId === record.keyId) &&
    (outcome === undefined || outcome === (ENDINGS[record.outcome] ?? record.outcome)) &&
    (endUser === undefined || endUser === (record.endUser ?? '')) &&
    (fromMs === undefined || record.startedAt >= fromMs) &&
    (untilMs === undefined || record.startedAt < untilMs)
  );
}

/** A clock with which no search takes too long. */
const STILL = () => 0;

describeOnEachDatabase('the request list', () => {
  test('pages of a list are the records that match, newest first, each once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someUsage, { maxLength: 60 }),
        fc.nat(70),
        someFilter,
        fc.integer({ min: 1, max: 9 }),
        // Whether each search is ended at once, after a piece of what there is.
        fc.boolean(),
        fc.integer({ min: 1, max: 8 }),
        // How many end users a day has room for.
        fc.nat(3),
        async (usage, added, filter, limit, hasty, pieceRows, endUsers) => {
          await using database = await newDatabase(directory);
          const records = usage.map((facts) =>
            usageRecord({ ...facts, failure: failureOf(facts) }),
          );
          await addRecords(database, records);
          await createRollUp(database, endUsers * 70).step(added + 1);
          let time = 0;
          const monotonic = () => (time += hasty ? 1_000 : 0);
          const { list, count } = createRequestList(database, monotonic, pieceRows);
          const seen: string[] = [];
          let after: RequestPlace | undefined;
          for (let pages = 0; pages < 300; pages += 1) {
            const page = await list('acct_ada', filter, limit, after);
            seen.push(...page.rows.map(({ requestId }) => requestId));
            after = page.next;
            if (after === undefined) break;
          }
          const expected = records
            .map((record, row) => ({ ...record, row }))
            .filter((record) => matches(record, filter))
            .sort((a, b) => b.startedAt - a.startedAt || b.row - a.row);
          expect([seen, after]).toEqual([expected.map(({ requestId }) => requestId), undefined]);
          const counted = await count('acct_ada', filter, 20);
          if (!hasty) expect(counted.count).toBe(Math.min(20, expected.length));
          if (!counted.isMore) expect(counted.count).toBe(expected.length);
        },
      ),
      { numRuns: 100 },
    );
  }, 60_000);

  test('a day of one end user among many is read in pieces that release the loop', async () => {
    await using database = await newDatabase(directory);
    const startedAt = (index: number) => DAY + 3 * HOUR_MS - index;
    await addRecords(
      database,
      Array.from({ length: 101 }, (_, index) =>
        usageRecord({ startedAt: startedAt(index), endUser: index === 100 ? 'ann' : 'ben' }),
      ),
    );
    await createRollUp(database).step(1_000);
    // Each look at the clock takes longer than the loop may be kept, and all less than a search may.
    let time = 0;
    const { list, count } = createRequestList(database, () => (time += 5), 25);
    let rows: readonly { readonly startedAt: number }[] = [];
    const turns = await turnsDuring(async () => {
      ({ rows } = await list('acct_ada', { endUser: 'ann' }, 10));
    });
    expect(rows.map((row) => row.startedAt)).toEqual([startedAt(100)]);
    expect(turns).toBeGreaterThanOrEqual(4);
    const counting = await turnsDuring(async () => {
      expect(await count('acct_ada', { endUser: 'ann' }, 10)).toEqual({ count: 1, isMore: false });
    });
    expect(counting).toBeGreaterThanOrEqual(4);
  });

  test('an end user for whom the series of a day has no room is found', async () => {
    await using database = await newDatabase(directory);
    const startedAts = [DAY, DAY + 24 * HOUR_MS];
    await addRecords(
      database,
      startedAts.flatMap((startedAt) =>
        ['ann', 'ben'].map((endUser) => usageRecord({ startedAt, endUser })),
      ),
    );
    await createRollUp(database, 70).step(9);
    const { rows } = await createRequestList(database, STILL).list(
      'acct_ada',
      { endUser: 'ben' },
      10,
    );
    expect(rows.map(({ startedAt }) => startedAt)).toEqual(startedAts.toReversed());
  });

  test('a list shows what was booked', async () => {
    await using database = await newDatabase(directory);
    const record = usageRecord({ endUser: 'ann', loss: micro(3n) });
    await addRecords(database, [record]);
    const { rows, next } = await createRequestList(database, STILL).list('acct_ada', {}, 10);
    const { outputBound, usageDoubt, attempts, held, ...shown } = record;
    const { priceVersionRequested, priceVersionServed, estimatedPromptTokens, ...facts } = shown;
    expect(rows).toEqual([{ ...facts, row: 1 } as (typeof rows)[number]]);
    expect(next).toBeUndefined();
  });

  test('a slow search of one piece, which is all there is, has no next page', async () => {
    await using database = await newDatabase(directory);
    await addRecords(database, [usageRecord({ startedAt: DAY })]);
    let time = 0;
    const { list, count } = createRequestList(database, () => (time += 1_000));
    const { rows, next } = await list('acct_ada', {}, 10);
    expect([rows.map(({ startedAt }) => startedAt), next]).toEqual([[DAY], undefined]);
    expect(await count('acct_ada', {}, 10)).toEqual({ count: 1, isMore: false });
  });

  test('a search finds the own requests whose id begins so, newest first', async () => {
    await using database = await newDatabase(directory);
    const ids = ['req_AAAAAA01', 'req_AAAAAA02', 'req_AAAAAB01'];
    await addRecords(
      database,
      ids.map((requestId) => usageRecord({ requestId })),
    );
    await addRecords(database, [usageRecord({ requestId: 'req_AAAAAA03', accountId: 'acct_bob' })]);
    const { search } = createRequestList(database, STILL);
    const found = async (prefix: string) =>
      (await search('acct_ada', prefix, 2)).map(({ requestId }) => requestId);
    expect(await found('req_AAAAAA')).toEqual(['req_AAAAAA02', 'req_AAAAAA01']);
    expect(await found('req_AAAAAA01')).toEqual(['req_AAAAAA01']);
    expect(await found('req_AAAAAA03')).toEqual([]);
    expect(await found('req_AAAA')).toEqual(['req_AAAAAB01', 'req_AAAAAA02']);
  });

  test('the neighbours of a request are those beside it in the list', async () => {
    await using database = await newDatabase(directory);
    // Requests that started in the same millisecond follow the order of their rows.
    const times = [3, 1, 2, 2, 5, 2, 1];
    const records = times.map((at) => usageRecord({ startedAt: DAY + at }));
    await addRecords(database, records);
    await addRecords(database, [usageRecord({ startedAt: DAY + 2, accountId: 'acct_bob' })]);
    const { list, neighbours } = createRequestList(database, STILL);
    const ids = (await list('acct_ada', {}, 10)).rows.map(({ requestId }) => requestId);
    expect(ids).toHaveLength(times.length);
    for (const [at, id] of ids.entries()) {
      const beside = [ids[at - 1] ?? null, ids[at + 1] ?? null] as const;
      expect([id, await neighbours('acct_ada', id)]).toEqual([id, beside]);
    }
  });

  sqliteTest('it reads a plan of SQLite')('neighbours are found by an index', async () => {
    await using database = await newDatabase(directory);
    const record = usageRecord();
    await addRecords(database, [record]);
    const asked: Ask[] = [];
    const { db } = createQueries((ask) => {
      asked.push(ask);
      return database.ask(ask);
    });
    await createRequestList({ ...database, db }, STILL).neighbours('acct_ada', record.requestId);
    const plans = asked.map(({ text }) => {
      using explained = database.connection.prepare<{ detail: string }, []>(
        `explain query plan ${text}`,
      );
      return explained.all().map(({ detail }) => detail);
    });
    expect(plans.slice(1).map(([detail]) => detail)).toEqual([
      'SEARCH requests USING INDEX requests_account (account=? AND started_at>?)',
      'SEARCH requests USING INDEX requests_account (account=? AND started_at<?)',
    ]);
    expect(plans.flat().filter((detail) => /SCAN|TEMP B-TREE/.test(detail))).toEqual([]);
  });
});
