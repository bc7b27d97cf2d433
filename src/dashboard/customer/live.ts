// The live numbers of an account and their feed, which sends them on change. Read once for the
// overview and once per second for the feed; the database is read again only after a commit.

import { type Span, utcDay } from '../../core/calendar.ts';
import type { Account } from '../../identity/accounts.ts';
import { balanceRecord } from '../../ledger/balance-record.ts';
import type { Balance } from '../../ledger/contract.ts';
import { createSpend, type DaySpend, type OpenRequest, type Spend } from '../../ledger/spend.ts';
import { limitUsage } from '../../operations/account-view.ts';
import { createFeeds, type Reading } from '../edge/feed.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import type { LiveRecord } from '../records/customer-overview.ts';
import { type OwnDependencies, planOf, readRoute } from './account.ts';
import { openRecord, spendRecord } from './spend-records.ts';

/** The most open requests listed; the count includes all. */
const OPEN_REQUESTS_MAX = 20;

type Stored = {
  readonly account: Account;
  readonly balance: Balance;
  readonly today: readonly DaySpend[];
  readonly open: readonly OpenRequest[];
};

export function feedRoutes(dependencies: OwnDependencies): CustomerRoutes {
  const feeds = createFeeds(dependencies);
  const spend = createSpend(dependencies.store.database);
  return [
    readRoute({
      path: '/feed',
      quiet: true,
      handle: (call) =>
        feeds.open(call, {
          key: call.who.accountId,
          start: () => liveReader(dependencies, spend, call.who.accountId),
        }),
    }),
  ];
}

/** Created for each viewed account; called once per second. */
export function liveReader(
  dependencies: OwnDependencies,
  spend: Spend,
  accountId: string,
): () => Promise<Reading & { readonly data: LiveRecord }> {
  const { store, serviceState, clock } = dependencies;
  let read: { readonly mark: string; readonly stored: Stored } | undefined;

  async function readStored(day: Span): Promise<Stored> {
    return {
      account: await store.accounts.get(accountId),
      balance: await store.books.balance(accountId),
      today: await spend.byDay(accountId, day),
      open: await spend.open(accountId, OPEN_REQUESTS_MAX),
    };
  }

  return async () => {
    const day = utcDay(clock());
    // Read first, so that later commits trigger the next reading.
    const commits = store.database.foreignCommits?.();
    const mark = `${day.fromMs} ${commits}`;
    if (commits === undefined || read?.mark !== mark)
      read = { mark, stored: await readStored(day) };
    const { account, balance, today, open } = read.stored;
    const state = serviceState();
    const { usdPerMillion } = state.catalog;
    const data: LiveRecord = {
      balance: balanceRecord(balance, usdPerMillion),
      usage: await limitUsage(dependencies, accountId, planOf(state, account)),
      today: spendRecord(today, usdPerMillion),
      open_requests: open.map(openRecord),
    };
    return { data, changes: JSON.stringify(data, withoutCountdown) };
  };
}

/** Left out of the comparison: the page counts the seconds down itself. */
function withoutCountdown(name: string, value: unknown): unknown {
  return name === 'resets_in_s' ? undefined : value;
}
