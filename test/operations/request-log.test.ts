// The log of requests equals a scan of all that was booked and refused: each entry once, newest
// first, for any filter, page size and time limit of the search.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ERRORS, type ErrorCode } from '../../src/core/error.ts';
import { createRequestId } from '../../src/core/id.ts';
import { receivedFailure } from '../../src/core/request-failure.ts';
import { createNewestRequests } from '../../src/ledger/newest-requests.ts';
import { createRequestList } from '../../src/ledger/request-list.ts';
import {
  countRequests,
  createRequestLog,
  type LogFilter,
  type LogPlace,
} from '../../src/operations/request-log.ts';
import { createRefusalList } from '../../src/refusals/list.ts';
import { refusedRequests } from '../../src/store/refused-tables.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';
import { addRecords, DAY, someUsage, type UsageRecord, usageRecord } from '../support/usage.ts';

const directory = temporaryDirectory();

type RefusedRow = typeof refusedRequests.$inferSelect;

const CODES: readonly ErrorCode[] = [
  'rate_limit_exceeded',
  'insufficient_balance',
  'invalid_request',
  'provider_unavailable',
];

const HOUR_MS = 3_600_000;
const instant = fc.integer({ min: DAY - 2 * HOUR_MS, max: DAY + 50 * HOUR_MS });

const someRefusal: fc.Arbitrary<RefusedRow> = fc
  .record({
    at: instant,
    accountId: fc.constantFrom('acct_ada', 'acct_bob', null),
    keyId: fc.constantFrom('key_1', 'key_2'),
    model: fc.constantFrom('swift-1', null),
    code: fc.constantFrom(...CODES),
  })
  .map((facts) => ({
    ...facts,
    id: createRequestId(facts.at, (length) => crypto.getRandomValues(new Uint8Array(length))),
    lastAt: facts.at,
    count: 1,
    route: 'messages',
    status: ERRORS[facts.code].status,
    message: null,
  }));

const someFilter: fc.Arbitrary<LogFilter> = fc.record(
  {
    model: fc.constantFrom('swift-1', 'swift-0'),
    keyId: fc.constantFrom('key_1', 'key_2'),
    outcome: fc.constantFrom('completed', 'client_cancelled', 'failed', 'refused'),
    status: fc.constantFrom('2xx', '4xx', '5xx', '429', '503', '200'),
    code: fc.constantFrom(...CODES),
    endUser: fc.constantFrom('ann'),
    upstream: fc.constantFrom('demo'),
    fromMs: instant,
    untilMs: instant,
  },
  { requiredKeys: [] },
);

function matchesStatus(status: number | null, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  return status !== null && (wanted === String(status) || wanted === `${String(status)[0]}xx`);
}

const isWithin = (at: number, { fromMs = 0, untilMs = Number.POSITIVE_INFINITY }: LogFilter) =>
  at >= fromMs && at < untilMs;

function isBooked(record: UsageRecord, filter: LogFilter): boolean {
  const { failure } = record;
  const hasFailed = record.outcome === 'upstream_failed' || record.outcome === 'gateway_failed';
  const ending = hasFailed ? 'failed' : record.outcome;
  const isAnswered = ending === 'completed' || ending === 'stopped_balance';
  const received = failure === null ? undefined : receivedFailure(failure);
  const status = isAnswered ? 200 : (received?.status ?? null);
  return (
    isWithin(record.startedAt, filter) &&
    (filter.model === undefined ||
      [record.modelServed, record.modelRequested].includes(filter.model)) &&
    (filter.keyId === undefined || filter.keyId === record.keyId) &&
    (filter.outcome === undefined || filter.outcome === ending) &&
    matchesStatus(status, filter.status) &&
    (filter.code === undefined || filter.code === received?.code) &&
    (filter.endUser === undefined || filter.endUser === record.endUser) &&
    (filter.upstream === undefined || filter.upstream === record.upstream)
  );
}

function isRefused(row: RefusedRow, filter: LogFilter): boolean {
  return (
    isWithin(row.at, filter) &&
    (filter.model === undefined || filter.model === row.model) &&
    (filter.keyId === undefined || filter.keyId === row.keyId) &&
    (filter.outcome === undefined || filter.outcome === 'refused') &&
    matchesStatus(row.status, filter.status) &&
    (filter.code === undefined || filter.code === row.code) &&
    filter.endUser === undefined &&
    filter.upstream === undefined
  );
}

/** Failed requests differ in what their client received. */
function withFailure(facts: Partial<UsageRecord>): UsageRecord {
  const { outcome, inputTokens = 0 } = facts;
  if (outcome !== 'upstream_failed' && outcome !== 'gateway_failed') return usageRecord(facts);
  const all = ['timeout', 'cut:interrupted', 'bad_request', 'recovered'] as const;
  return usageRecord({ ...facts, failure: all[inputTokens % all.length] ?? 'timeout' });
}

describeOnEachDatabase('the request log', () => {
  test.each(['acct_ada', undefined])(
    'of %s has each entry once, newest first',
    async (owner) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(someUsage, { maxLength: 40 }),
          fc.array(someRefusal, { maxLength: 20 }),
          someFilter,
          fc.integer({ min: 1, max: 9 }),
          // Whether each search ends at once.
          fc.boolean(),
          async (usage, refusals, filter, limit, hasty) => {
            await using database = await newDatabase(directory);
            // Without an owner the order is the one in which requests ended.
            const records = usage
              .map(withFailure)
              .sort((a, b) => (owner === undefined ? a.startedAt - b.startedAt : 0));
            await addRecords(database, records);
            if (refusals.length > 0) await database.db.insert(refusedRequests).values(refusals);
            let time = 0;
            const monotonic = () => (time += hasty ? 1_000 : 0);
            const lists = {
              requests: createRequestList(database, monotonic),
              newest: createNewestRequests(database, monotonic),
              refusals: createRefusalList(database),
            };
            const read = createRequestLog(lists, owner);
            const seen: { readonly id: string; readonly at: number }[] = [];
            let after: LogPlace | undefined;
            for (let pages = 0; pages < 300; pages += 1) {
              const page = await read(filter, limit, after);
              expect(page.entries.length).toBeLessThanOrEqual(limit);
              for (const { kind, row } of page.entries) {
                seen.push(
                  kind === 'ended'
                    ? { id: row.requestId, at: row.startedAt }
                    : { id: row.id, at: row.at },
                );
              }
              after = page.next;
              if (after === undefined) break;
            }
            const isOwn = ({ accountId }: { readonly accountId: string | null }) =>
              owner === undefined || accountId === owner;
            const expected = [
              ...records
                .filter(isOwn)
                .filter((record) => isBooked(record, filter))
                .map((record) => record.requestId),
              ...refusals
                .filter(isOwn)
                .filter((row) => isRefused(row, filter))
                .map(({ id }) => id),
            ];
            expect(after).toBeUndefined();
            expect(seen.map(({ id }) => id).sort()).toEqual(expected.sort());
            expect(seen.map(({ at }) => at)).toEqual(
              seen.map(({ at }) => at).toSorted((a, b) => b - a),
            );
            if (owner !== undefined && !hasty) {
              const { count, isMore } = await countRequests(lists, owner, filter, 15);
              expect([count, isMore]).toEqual([
                Math.min(15, expected.length),
                expected.length > 15,
              ]);
            }
          },
        ),
        { numRuns: 40 },
      );
    },
    60_000,
  );
});
