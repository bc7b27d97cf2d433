// The contract of every ledger implementation: the same tests for the one in this process and the
// one in a thread. Each test file calls `describeLedger`.

import type { Books } from '../../../src/ledger/books.ts';
import type { KeyBudget } from '../../../src/ledger/budget-list.ts';
import type { Ledger } from '../../../src/ledger/contract.ts';
import { describeOnEachDatabase } from '../../support/database.ts';
import { describeBudgets } from './budgets.ts';
import { describeBursts } from './burst.ts';
import { describeLaws } from './laws.ts';
import type { ModelCode } from './model.ts';
import { describeRaces } from './races.ts';
import { describeTables } from './tables.ts';

type Awaitable<T> = T | Promise<T>;

/** One leg as it is booked. */
export type Leg = {
  readonly transferId: string;
  readonly ledgerAccount: string;
  readonly amount: bigint;
};

/** A ledger over books of its own, and ways to look into them. */
export type LedgerUnderTest = {
  readonly ledger: Ledger;
  readonly balance: (accountId: string) => Awaitable<ReturnType<Books['balance']>>;
  readonly story: (requestId: string) => Awaitable<ReturnType<Books['explain']>>;
  /** One line for each difference; none is a healthy ledger. */
  readonly differences: () => Awaitable<readonly string[]>;
  readonly legs: () => Awaitable<readonly Leg[]>;
  /** The bodies of an account's receipts, in their order. */
  readonly receipts: (accountId: string) => Awaitable<readonly string[]>;
  readonly addAccount: (accountId: string) => Awaitable<void>;
  /** The budget of a rotation, by its first key. */
  readonly budget: (family: string) => Promise<KeyBudget | undefined>;
  readonly addKey: (accountId: string, id: string, family?: string) => Awaitable<void>;
  /** Rolls up what was used so far. */
  readonly addUp: () => Promise<unknown>;
  /** Makes a code whose digest is its own name. */
  readonly addCode: (code: ModelCode) => Awaitable<void>;
  readonly close: () => Promise<void>;
};

export function describeLedger(name: string, open: () => Awaitable<LedgerUnderTest>): void {
  const opened = async () => open();
  describeOnEachDatabase(name, () => {
    describeTables(opened);
    describeLaws(opened);
    describeRaces(opened);
    describeBursts(opened);
    describeBudgets(opened);
  });
}
