// The ledger against its model: every short sequence over two requests, and random interleavings.

import { afterAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Settlement } from '../../src/ledger/contract.ts';
import { ledgerEntries } from '../../src/store/tables.ts';
import { temporaryDirectory } from '../support/database.ts';
import {
  addAccount,
  closeBooks,
  creditOf,
  holdOf,
  type OpenBooks,
  openBooks,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';
import { createModel, type Step } from './model.ts';

const directory = temporaryDirectory();
const open = openBooks(directory);
afterAll(() => closeBooks(open));

async function run({ ledger }: OpenBooks, step: Step): Promise<string> {
  switch (step.kind) {
    case 'credit': {
      const done = await ledger.credit(creditOf(step.id, step.account, step.amount));
      return `applied ${done.applied} available ${done.available}`;
    }
    case 'hold': {
      const done = await ledger.hold(holdOf(step.id, step.account, step.amount));
      return `ok ${done.ok} available ${done.available}`;
    }
    case 'settle':
      return text(await ledger.settle(settleOf(step.id, step.charge)));
    case 'release':
      return text(await ledger.release(releaseOf(step.id)));
  }
}

function text({ debited, loss, available }: Settlement): string {
  return `debited ${debited} lost ${loss} available ${available}`;
}

/** All steps at once: they are carried out in order, many in one transaction. */
function runAll(target: OpenBooks, steps: readonly Step[]): Promise<string[]> {
  return Promise.all(steps.map((step) => run(target, step).catch(() => 'rejected')));
}

/** Runs the steps on new accounts, and holds answers and balances against the model's. */
async function compare(accounts: readonly string[], steps: readonly Step[]): Promise<void> {
  for (const account of accounts) addAccount(open, account);
  const model = createModel();
  expect(await runAll(open, steps)).toEqual(steps.map(model.run));
  for (const account of accounts) {
    expect(open.books.balance(account)).toEqual(model.balance(account));
  }
}

/** Every sequence of `length` choices out of `count`. */
function sequences(count: number, length: number): number[][] {
  if (length === 0) return [[]];
  const choices = Array.from({ length: count }, (_, choice) => choice);
  return sequences(count, length - 1).flatMap((head) => choices.map((next) => [...head, next]));
}

test('every sequence of up to five steps over two requests is as the model says', async () => {
  const all = [1, 2, 3, 4, 5].flatMap((length) => sequences(6, length));
  expect(all.length).toBe(6 + 6 ** 2 + 6 ** 3 + 6 ** 4 + 6 ** 5);
  const checks = all.map((sequence) => {
    const account = `acct-${sequence.join('')}`;
    const choices = ['a', 'b'].flatMap((request): Step[] => {
      const id = `${account}-${request}`;
      return [
        { kind: 'hold', account, amount: 60n, id },
        { kind: 'settle', charge: 90n, id },
        { kind: 'release', id },
      ];
    });
    const steps = sequence.flatMap((choice) => choices[choice] ?? []);
    return compare(
      [account],
      [{ kind: 'credit', account, amount: 100n, id: `opening-${account}` }, ...steps],
    );
  });
  await Promise.all(checks);
  expect(open.books.audit()).toEqual([]);
}, 60_000);

test('money is conserved, whatever comes in whatever order', async () => {
  let run = 0;
  const amount = fc.bigInt({ min: 0n, max: 40n }).map((n) => n * 2n ** 50n + n);
  const account = fc.constantFrom('ada', 'bob');
  const request = fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5');
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      kind: fc.constant('credit' as const),
      account,
      amount: amount.map((n) => n + 1n),
      id: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
    }),
    fc.record({ kind: fc.constant('hold' as const), account, amount, id: request }),
    fc.record({ kind: fc.constant('settle' as const), charge: amount, id: request }),
    fc.record({ kind: fc.constant('release' as const), id: request }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (generated) => {
      run += 1;
      const mark = `${run}-`;
      // A credit id names one movement, so it keeps the account and amount of its first use.
      const first = new Map<string, Step>();
      const steps = generated.map((one): Step => {
        const renamed: Step =
          'account' in one
            ? { ...one, id: mark + one.id, account: mark + one.account }
            : { ...one, id: mark + one.id };
        if (renamed.kind !== 'credit') return renamed;
        const known = first.get(renamed.id) ?? renamed;
        first.set(renamed.id, known);
        return known;
      });
      await compare([`${mark}ada`, `${mark}bob`], steps);
    }),
    { numRuns: 150 },
  );
  expect(open.books.audit()).toEqual([]);

  // The same law once more, from the entries alone.
  const sums = new Map<string, bigint>();
  for (const entry of open.database.db.select().from(ledgerEntries).all()) {
    sums.set(entry.transferId, (sums.get(entry.transferId) ?? 0n) + entry.amount);
  }
  expect(sums.size).toBeGreaterThan(1_000);
  expect([...sums.values()].filter((sum) => sum !== 0n)).toEqual([]);
}, 60_000);
