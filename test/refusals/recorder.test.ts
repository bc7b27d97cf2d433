// What a flood of refusals leaves behind: bounded rows per account and in all, exact counts, and
// nothing of what the callers sent.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ERRORS, type ErrorCode } from '../../src/core/error.ts';
import { createRequestId } from '../../src/core/id.ts';
import { createRefusalList } from '../../src/refusals/list.ts';
import {
  createRefusalRecorder,
  DETAILED_MAX,
  GROUPS_MAX,
  type RefusedCall,
} from '../../src/refusals/recorder.ts';
import { fairShare, KEPT_MS, sweepRefusals } from '../../src/refusals/sweep.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';

const directory = temporaryDirectory();

const NOW = Date.UTC(2026, 10, 21, 12);
const CODES = Object.keys(ERRORS) as ErrorCode[];

const idOf = (at: number): string =>
  createRequestId(at, (length) => crypto.getRandomValues(new Uint8Array(length)));

function refusal(facts: Partial<RefusedCall> = {}): RefusedCall {
  const { code = 'rate_limit_exceeded', at = NOW } = facts;
  const asked = { requestId: idOf(at), at, route: 'chat_completions', code } as const;
  return { ...asked, message: ERRORS[code].text, accountId: 'acct_ada', keyId: 'key_1', ...facts };
}

const failing = (error: unknown): never => {
  throw error;
};

describeOnEachDatabase('recorded refusals', () => {
  async function recorded(refusals: Iterable<RefusedCall>) {
    const database = await newDatabase(directory);
    const recorder = createRefusalRecorder({ database, onError: failing });
    for (const each of refusals) recorder.note(each);
    await recorder.flush();
    return { database, recorder, list: createRefusalList(database) };
  }

  test('equal refusals of a minute are one row with their number', async () => {
    const { database, recorder, list } = await recorded([
      refusal({ model: 'swift-1' }),
      refusal({ at: NOW + 900, model: 'swift-1' }),
      refusal({ at: NOW + 60_000, model: 'swift-1' }),
    ]);
    recorder.note(refusal({ at: NOW + 61_000, model: 'swift-1' }));
    await recorder.flush();
    const rows = await list.list({ accountId: 'acct_ada' }, 10);
    expect(
      rows.map(({ at, lastAt, count, status, code, model, keyId }) => {
        return [at - NOW, lastAt - NOW, count, status, code, model, keyId];
      }),
    ).toEqual([
      [60_000, 61_000, 2, 429, 'rate_limit_exceeded', 'swift-1', 'key_1'],
      [0, 900, 2, 429, 'rate_limit_exceeded', 'swift-1', 'key_1'],
    ]);
    await database.close();
  });

  test('an account has few detailed rows a minute, and every refusal is counted', async () => {
    const flood = Array.from({ length: 5_000 }, (_, n) =>
      refusal({ at: NOW + (n % 1_000), code: 'invalid_request', message: `messages[${n}]: bad` }),
    );
    const { database, list } = await recorded(flood);
    const rows = await list.list({ accountId: 'acct_ada' }, 1_000);
    expect(rows.length).toBe(DETAILED_MAX + 1);
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(5_000);
    expect(rows.filter(({ message, keyId }) => message === null && keyId === null)).toHaveLength(1);
    await database.close();
  });

  test('a flood from very many accounts is bounded in memory and on disk', async () => {
    const total = GROUPS_MAX + 3_000;
    const { database, list } = await recorded(
      Array.from({ length: total }, (_, n) => refusal({ accountId: `acct_${n}` })),
    );
    const rows = await list.list({}, 2 * total);
    expect(rows.length).toBe(GROUPS_MAX + 1);
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(total);
    const [unknown] = await list.list({ accountId: '' }, 2);
    expect(unknown).toMatchObject({ accountId: null, keyId: null, count: 3_000 });
    await database.close();
  }, 60_000);

  test('callers without an account are counted by route and code alone', async () => {
    const { database, list } = await recorded(
      Array.from({ length: 3_000 }, (_, n) =>
        refusal({
          at: NOW + n,
          code: n % 2 === 0 ? 'invalid_api_key' : 'not_found',
          message: `There is nothing at /secret-${n}`,
          accountId: undefined,
          keyId: undefined,
        }),
      ),
    );
    const rows = await list.list({}, 100);
    expect(
      rows.map(({ code, count, message, keyId }) => [code, count, message, keyId]).sort(),
    ).toEqual([
      ['invalid_api_key', 1_500, null, null],
      ['not_found', 1_500, null, null],
    ]);
    await database.close();
  });

  test('a failed write loses its counts, and later ones are written', async () => {
    await using database = await newDatabase(directory);
    const errors: unknown[] = [];
    let isBroken = true;
    const recorder = createRefusalRecorder({
      database: {
        ...database,
        quickly: (work) =>
          isBroken ? Promise.reject(new Error('disk full')) : database.quickly(work),
      },
      onError: (error) => errors.push(error),
    });
    recorder.note(refusal());
    await recorder.flush();
    isBroken = false;
    recorder.note(refusal({ code: 'insufficient_balance' }));
    await recorder.flush();
    expect(errors).toHaveLength(1);
    const rows = await createRefusalList(database).list({}, 10);
    expect(rows.map(({ code }) => code)).toEqual(['insufficient_balance']);
  });

  test('after a week a refusal is gone, and the oldest of an account with too many', async () => {
    const old = refusal({ at: NOW - KEPT_MS - 1, accountId: 'acct_old' });
    const many = Array.from({ length: 9 }, (_, n) =>
      refusal({ at: NOW - n * 60_000, accountId: 'acct_many' }),
    );
    const few = refusal({ at: NOW - KEPT_MS + 1, accountId: 'acct_few' });
    const { database, list } = await recorded([old, few, ...many.reverse()]);
    await sweepRefusals(database, NOW, { accountRows: 4, totalRows: 100 });
    const kept = await list.list({}, 100);
    expect(kept.map(({ accountId, at }) => [accountId, at])).toEqual([
      ...[0, 1, 2, 3].map((n) => ['acct_many', NOW - n * 60_000]),
      ['acct_few', NOW - KEPT_MS + 1],
    ]);
    await database.close();
  });

  test('counts over time are those of a scan', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            at: fc.integer({ min: NOW, max: NOW + 5 * 3_600_000 }),
            code: fc.constantFrom(...CODES),
          }),
          { maxLength: 40 },
        ),
        async (facts) => {
          const all = facts.map(refusal).sort((a, b) => a.at - b.at);
          const { database, list } = await recorded(all);
          const counts = await list.counts({ accountId: 'acct_ada' }, 3_600_000);
          const expected = Map.groupBy(all, ({ at, code }) => `${at - (at % 3_600_000)} ${code}`);
          expect(
            new Map(counts.map(({ bucket, code, requests }) => [`${bucket} ${code}`, requests])),
          ).toEqual(new Map([...expected].map(([name, of]) => [name, of.length])));
          await database.close();
        },
      ),
      { numRuns: 15 },
    );
  }, 60_000);
});

describe('the share of an account', () => {
  test('keeps the total, and takes only from those that have most', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(300), { maxLength: 40 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 0, max: 2_000 }),
        (rows, accountRows, totalRows) => {
          const share = fairShare(rows, { accountRows, totalRows });
          const kept = rows.map((own) => Math.min(own, share));
          const sum = kept.reduce((a, b) => a + b, 0);
          expect(sum).toBeLessThanOrEqual(Math.max(totalRows, 0));
          expect(share).toBeLessThanOrEqual(accountRows);
          // No larger share fits, unless nothing is taken from anyone or the account's bound holds.
          const more = rows.reduce((total, own) => total + Math.min(own, share + 1), 0);
          if (share < accountRows && more > sum) expect(more).toBeGreaterThan(totalRows);
        },
      ),
    );
  });
});
