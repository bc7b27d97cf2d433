// The limits of a cluster. What a request takes was mostly leased from Redis before, in batches, so
// that it goes no way; near a limit Redis decides one by one, and no limit is exceeded. While Redis
// is away, the node's own limits decide with its share. They count everything at all times.

import type { Awaitable } from '../../core/awaitable.ts';
import type { Plan } from '../../core/plan.ts';
import type { Redis } from '../../store/redis/client.ts';
import { LEASE_MS } from '../account.ts';
import type {
  AccountLimits,
  AdmissionHistory,
  Claim,
  ClaimRequest,
  ClaimResult,
  LimitUsage,
} from '../contract.ts';
import { createAccounts, type Every, type LeasedAccount } from './accounts.ts';
import { covers, giveBack, type LeasedClaim, take, type WindowCounter } from './counters.ts';
import { createExchange } from './exchange.ts';
import {
  countRefusal,
  refusalOf,
  tokensOf,
  usageAt,
  viewAt,
  type Wanted,
  wantedBy,
  wantedByCount,
  wantedByUsage,
} from './needs.ts';
import { createDecide } from './script.ts';
import { countingPlan, planShare } from './share.ts';
import { claimShare } from './share-limits.ts';

export type LeasedLimits = AccountLimits & {
  /** Whether the whole cluster is counted, or each node for itself. */
  readonly mode: () => 'cluster' | 'share';
  readonly counts: () => LeasedCounts;
  /** Gives back what is not used. Answers under way go on, and end as they would. */
  readonly stop: () => Promise<void>;
};

/** Decisions since the start: at once, after an exchange with Redis, and without Redis. */
export type LeasedCounts = {
  readonly local: number;
  readonly exchanged: number;
  readonly shared: number;
  /** Exchanges with Redis, those included that nobody waited for. */
  readonly exchanges: number;
};

export type LeasedDependencies = {
  readonly redis: Pick<Redis, 'run' | 'isUp'>;
  /** The limits of this process or of its threads; those of nobody else. */
  readonly local: AccountLimits;
  /** Names this process or thread among all that lease, anew with each start. */
  readonly holder: string;
  /** How many nodes share the limits, at least 1. */
  readonly liveNodes: () => number;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly isLive: (requestId: string) => boolean;
  readonly history: AdmissionHistory;
  /** Waits as long as real time takes. */
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly every: Every;
  /** Before every key. */
  readonly prefix?: string;
  /** In the place of the clock of Redis, in tests. */
  readonly redisClock?: () => number;
};

type Taken = { readonly open: LeasedClaim; readonly windows: readonly WindowCounter[] };

export function createLeasedLimits(dependencies: LeasedDependencies): LeasedLimits {
  const { redis, local, liveNodes, clock, monotonic, prefix = 'tollgate:' } = dependencies;
  const exchange = createExchange({ ...dependencies, decide: createDecide(redis, prefix) });
  const accounts = createAccounts({ ...dependencies, isUp: redis.isUp, exchange });
  const counts = { local: 0, exchanged: 0, shared: 0 };

  /** Takes what was leased, or what the node's own limits gave. */
  function takeFor({ counters }: LeasedAccount, request: ClaimRequest, wanted: Wanted): Taken {
    const nowMs = monotonic();
    const { windows, periods } = take(counters, wanted.need, nowMs);
    const { requestId, startedAt, model } = request;
    const lease = { hasSlot: true, leaseUntil: nowMs + LEASE_MS };
    const open = { requestId, startedAt, model, ...lease, tokens: tokensOf(request), periods };
    counters.claims.add(open);
    return { open, windows };
  }

  function claimOf(
    account: LeasedAccount,
    request: ClaimRequest,
    { open, windows }: Taken,
    own: Claim,
    view: Claim['view'],
  ): Claim {
    const { counters } = account;
    let ended = false;
    const end = (usedTokens: number): boolean => {
      if (ended) return false;
      ended = true;
      counters.claims.delete(open);
      for (const period of open.periods) period.used += usedTokens - open.tokens;
      accounts.changed(account);
      return true;
    };
    return {
      view,
      freeSlot() {
        own.freeSlot();
        if (!open.hasSlot) return;
        open.hasSlot = false;
        accounts.changed(account);
      },
      settle(usedTokens) {
        own.settle(usedTokens);
        end(usedTokens);
      },
      cancel() {
        // Nobody waits for it: what it would answer is not asked for.
        void own.cancel();
        if (end(0)) giveBack(counters, windows, [1, open.tokens]);
        const nowMs = monotonic();
        accounts.roll(account, nowMs);
        return viewAt(counters, request, nowMs);
      },
    };
  }

  /** The node's own limits count what the cluster has admitted. */
  function counted(
    account: LeasedAccount,
    request: ClaimRequest,
    taken: Taken,
  ): Awaitable<ClaimResult> {
    const view = viewAt(account.counters, request, monotonic());
    const plan = countingPlan(request.plan);
    const done = (result: ClaimResult): ClaimResult => {
      if (result.kind === 'claimed') {
        return { kind: 'claimed', claim: claimOf(account, request, taken, result.claim, view) };
      }
      account.counters.claims.delete(taken.open);
      for (const period of taken.open.periods) period.used -= taken.open.tokens;
      giveBack(account.counters, taken.windows, [1, taken.open.tokens]);
      return result;
    };
    const result = local.claim({ ...request, plan, incident: undefined });
    return result instanceof Promise ? result.then(done) : done(result);
  }

  /** Without Redis: the share of this node. What it admits is told when Redis is back. */
  async function claimAlone(request: ClaimRequest): Promise<ClaimResult> {
    counts.shared += 1;
    const result = await claimShare(local, request, liveNodes());
    if (result.kind === 'refused') return result;
    const account = accounts.of(request.accountId, monotonic());
    const taken = takeFor(account, request, wantedBy(request));
    accounts.changed(account);
    const { claim: own } = result;
    return { kind: 'claimed', claim: claimOf(account, request, taken, own, own.view) };
  }

  function claim(request: ClaimRequest): Awaitable<ClaimResult> {
    if (!redis.isUp()) return claimAlone(request);
    const nowMs = monotonic();
    const account = accounts.of(request.accountId, nowMs);
    const wanted = wantedBy(request);
    const { counters } = account;
    if (accounts.isIdle(account) && covers(counters, wanted.need, nowMs)) {
      counts.local += 1;
      return counted(account, request, takeFor(account, request, wanted));
    }
    return accounts
      .wait<Taken | ClaimResult>(account, wanted, ({ nowMs: atMs, isFresh, isGiven }) => {
        if (isGiven || covers(counters, wanted.need, atMs)) {
          return takeFor(account, request, wanted);
        }
        const times = { nowMs: atMs, timeMs: clock() };
        return isFresh ? refusalOf(counters, request, times) : undefined;
      })
      .then((outcome) => {
        if (outcome === undefined) return claimAlone(request);
        counts.exchanged += 1;
        return 'open' in outcome ? counted(account, request, outcome) : outcome;
      });
  }

  async function claimCount(accountId: string, plan: Plan): Promise<number | undefined> {
    const share = () => local.claimCount(accountId, planShare(plan, liveNodes()));
    if (!redis.isUp()) return share();
    const account = accounts.of(accountId, monotonic());
    const { counters } = account;
    const wanted = wantedByCount(plan);
    const outcome = await accounts.wait<{ readonly seconds?: number }>(
      account,
      wanted,
      ({ nowMs: atMs, isFresh, isGiven }) => {
        if (isGiven || covers(counters, wanted.need, atMs)) {
          take(counters, wanted.need, atMs);
          return {};
        }
        const seconds = isFresh ? countRefusal(counters, plan, atMs) : undefined;
        return seconds === undefined ? undefined : { seconds };
      },
    );
    if (outcome === undefined) return share();
    if (outcome.seconds === undefined) await local.claimCount(accountId, countingPlan(plan));
    return outcome.seconds;
  }

  async function usage(accountId: string, plan: Plan): Promise<LimitUsage> {
    if (!redis.isUp()) return local.usage(accountId, plan);
    const account = accounts.of(accountId, monotonic());
    const timeMs = clock();
    const known = await accounts.wait(account, wantedByUsage(plan, timeMs), ({ nowMs, isFresh }) =>
      isFresh ? usageAt(account.counters, plan, { nowMs, timeMs }) : undefined,
    );
    return known ?? local.usage(accountId, plan);
  }

  return {
    claim,
    claimCount,
    usage,
    claims: local.claims,
    mode: () => (redis.isUp() ? 'cluster' : 'share'),
    counts: () => ({ ...counts, exchanges: accounts.exchanges() }),
    stop: accounts.stop,
  };
}
