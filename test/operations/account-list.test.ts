// The console's list of accounts against the plainest sums over the same records: each order, turned
// page by page, has each account once, with what it spent and earned in 30 days.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { ACCOUNT_FIELDS, listAccounts } from '../../src/operations/account-list.ts';
import type { SortPlace } from '../../src/store/keyset.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';
import { samples } from '../support/tier.ts';
import { addRecords, DAY, type UsageRecord, usageRecord } from '../support/usage.ts';

const directory = temporaryDirectory();
const DAY_MS = 86_400_000;
const NOW = DAY + 10 * DAY_MS + 5_000;
const FIRST = DAY - 19 * DAY_MS;

const record: fc.Arbitrary<UsageRecord> = fc
  .record({
    accountId: fc.constantFrom('acct_ada', 'acct_bob', 'acct_cat', 'acct_dan', 'acct_eve'),
    startedAt: fc.constantFrom(FIRST - 1, FIRST, FIRST + 7, DAY, NOW - 1_000),
    debited: fc.constantFrom(10n, 20n, 7_000_000n),
    outcome: fc.constantFrom('completed' as const, 'upstream_failed' as const),
    attempts: fc.constantFrom(
      '[]',
      '[{"upstream":"a","usage":{"inputTokens":1},"cost":"0.000004"}]',
      '[{"upstream":"a","usage":{"inputTokens":1}}]',
    ),
  })
  .map((facts) => usageRecord(facts as Partial<UsageRecord>));

function expected(records: readonly UsageRecord[]) {
  const inside = records.filter(({ startedAt }) => startedAt >= FIRST);
  const sum = (of: (record: UsageRecord) => bigint) =>
    inside.reduce((total, each) => total + of(each), 0n);
  const cost = ({ attempts }: UsageRecord) => (attempts.includes('"cost"') ? 4n : 0n);
  const isKnown = ({ attempts }: UsageRecord) => attempts === '[]' || attempts.includes('"cost"');
  return {
    month: {
      requests: inside.length,
      failed: inside.filter(({ outcome }) => outcome === 'upstream_failed').length,
      debited: sum(({ debited }) => debited),
      upstreamCost: sum(cost),
      margin: sum((each) => (isKnown(each) ? each.debited - cost(each) : 0n)),
      uncosted: inside.filter((each) => !isKnown(each)).length,
    },
    activeAt: Math.max(...records.map(({ startedAt }) => startedAt)),
  };
}

type Value = SortPlace['value'];

function compare(a: Value, b: Value): number {
  const [one, other] = typeof a === 'string' ? [a, b] : [BigInt(a), BigInt(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}

describeOnEachDatabase('the list of accounts', () => {
  test('has each account once in every order, with its usage of 30 days', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 1, max: 4 }),
        async (records, limit) => {
          await using stack = new AsyncDisposableStack();
          const database = await newDatabase(directory);
          stack.defer(() => database.close());
          await addRecords(database, records);
          while ((await createRollUp(database).step(1_000)) > 0);
          const ofAccount = Map.groupBy(records, ({ accountId }) => accountId);
          for (const field of ACCOUNT_FIELDS) {
            for (const descending of [false, true]) {
              const seen = [];
              for (let after: SortPlace | undefined; ; ) {
                const page = { limit, order: { field, descending }, after };
                const rows = await listAccounts(database, {}, page, NOW);
                seen.push(...rows);
                if (rows.length < limit) break;
                after = rows.at(-1)?.place;
              }
              expect(seen.map(({ account }) => account.id).toSorted()).toEqual(
                [...ofAccount.keys()].toSorted(),
              );
              for (const { account, month, activeAt } of seen) {
                const figures: unknown = { month, activeAt };
                expect(figures).toEqual(expected(ofAccount.get(account.id) ?? []));
              }
              const places = seen.map(({ place: { value, tie } }): [Value, Value] => [value, tie]);
              const ordered = places.toSorted(
                ([a, tieA], [b, tieB]) => compare(a, b) || compare(tieA, tieB),
              );
              expect(places).toEqual(descending ? ordered.toReversed() : ordered);
            }
          }
        },
      ),
      { numRuns: samples(6, 60) },
    );
  }, 60_000);
});
