// Rate limits of a cluster. Most requests use permits leased from Redis in batches, without a round
// trip. Near a limit Redis decides each request, so no limit is exceeded. Without Redis, the node's
// own limits apply with its share; they always count everything.

import type { Awaitable } from '../../async/awaitable.ts';
import type { Every } from '../../async/every.ts';
import type { Plan } from '../../core/plan.ts';
import type { Redis } from '../../store/redis/client.ts';
import type {
  AccountLeft,
  AccountLimits,
  ClaimRequest,
  ClaimResult,
  LimitsDependencies,
  LimitUsage,
  Refusal,
} from '../contract.ts';
import { createLeasedAccounts, type LeasedAccount, TRIPS_MAX } from './accounts.ts';
import { countingPlan, createClaims } from './claims.ts';
import { covers, isBelieved, type LeasedClaim, take } from './counters.ts';
import { createExchange, type ExchangeDependencies } from './exchange.ts';
import {
  countRefusal,
  decideAt,
  leftAt,
  needOfRefused,
  refusalAt,
  usageAt,
  wantedBy,
  wantedByCount,
  wantedByUsage,
} from './needs.ts';
import { createDecide } from './script.ts';
import { createShareLimits } from './share-limits.ts';

export type LeasedLimits = AccountLimits & {
  /** Whether the limits count the whole cluster or each node by itself. */
  readonly mode: () => 'cluster' | 'share';
  readonly counts: () => LeasedCounts;
  /** Returns unused permits. Answers in progress continue and end normally. */
  readonly stop: () => Promise<void>;
};

/** Decisions since the start: immediate, after an exchange with Redis, and without Redis. */
type LeasedCounts = {
  readonly local: number;
  readonly exchanged: number;
  readonly shared: number;
  /** Exchanges with Redis, including background ones. */
  readonly exchanges: number;
};

type LeasedDependencies = LimitsDependencies &
  Omit<ExchangeDependencies, 'decide'> & {
    readonly redis: Pick<Redis, 'run' | 'isUp' | 'publish' | 'subscribe'>;
    /** The limits of this process alone. */
    readonly local: AccountLimits;
    readonly every: Every;
    /** The prefix of every key. */
    readonly prefix?: string;
  };

export function createLeasedLimits(dependencies: LeasedDependencies): LeasedLimits {
  const { redis, local, liveNodes, clock, monotonic, prefix = 'tollgate:' } = dependencies;
  const alone = createShareLimits(local, liveNodes);
  const exchange = createExchange({ ...dependencies, decide: createDecide(redis, prefix) });
  const channel = `${prefix}permits`;
  const accounts = createLeasedAccounts({ ...dependencies, exchange, channel });
  const claims = createClaims(accounts, local, monotonic);
  const counts = { local: 0, exchanged: 0, shared: 0 };

  /** Decides without Redis, by this node's share. Admissions are reported when Redis is back. */
  async function claimAlone(request: ClaimRequest): Promise<ClaimResult> {
    counts.shared += 1;
    const result = await alone.claim(request);
    if (result.kind === 'refused') return result;
    const { claim: own } = result;
    const fitted = { ...request, outputBound: own.outputBound };
    const account = accounts.of(request.accountId, monotonic());
    const taken = claims.take(account, fitted, wantedBy(fitted));
    accounts.changed(account);
    return { kind: 'claimed', claim: claims.open(account, fitted, { taken, own, view: own.view }) };
  }

  function claim(request: ClaimRequest): Awaitable<ClaimResult> {
    if (!redis.isUp()) return claimAlone(request);
    const nowMs = monotonic();
    const account = accounts.of(request.accountId, nowMs);
    const fitted = fit(account, request);
    const wanted = wantedBy(fitted);
    if (account.inLine > 0 || !covers(account.counters, wanted, nowMs)) {
      return claimInTurn(account, request);
    }
    counts.local += 1;
    return claims.count(account, fitted, claims.take(account, fitted, wanted));
  }

  /** The request with the output bound that its caps leave, as far as is known. */
  function fit({ counters }: LeasedAccount, request: ClaimRequest): ClaimRequest {
    const { dailyTokens, monthlyTokens } = request.plan;
    if (dailyTokens === undefined && monthlyTokens === undefined) return request;
    const decided = decideAt(counters, request);
    return decided.kind === 'fits' ? decided.request : request;
  }

  async function claimInTurn(account: LeasedAccount, request: ClaimRequest): Promise<ClaimResult> {
    const { counters, begun } = account;
    const trips = { left: TRIPS_MAX };
    for (;;) {
      const fitted = fit(account, request);
      const wanted = wantedBy(fitted);
      const decided = {
        take: (): LeasedClaim | Refusal | 'lower' => claims.take(account, fitted, wanted),
        refuse(nowMs: number, isFresh: boolean) {
          const refusal = refusalAt(counters, request, { nowMs, timeMs: clock() });
          // Slots and reserved caps are returned at any time; windows and usage rarely shrink.
          const isKnown = isFresh || refusal?.code !== 'concurrency_limit_exceeded';
          if (refusal !== undefined) return isKnown ? refusal : undefined;
          // The newer state may leave less than was requested.
          return fit(account, request).outputBound < fitted.outputBound ? 'lower' : undefined;
        },
      };
      const outcome = await accounts.decide(account, wanted, decided, trips);
      if (outcome === undefined) return claimAlone(request);
      if (outcome === 'lower') continue;
      counts[account.begun > begun ? 'exchanged' : 'local'] += 1;
      return 'code' in outcome ? outcome : claims.count(account, fitted, outcome);
    }
  }

  /** Reads what Redis knows now; undefined without an answer. */
  async function look<T>(
    account: LeasedAccount,
    plan: Plan,
    read: (nowMs: number) => T,
  ): Promise<T | undefined> {
    const isFresh = await accounts.refresh(account, wantedByUsage(plan, clock()));
    return isFresh ? read(monotonic()) : undefined;
  }

  /** Asks Redis only if nothing seems to be left. Slots are returned at any time. */
  function left(accountId: string, plan: Plan): Awaitable<AccountLeft> {
    if (!redis.isUp()) return alone.left(accountId, plan);
    const nowMs = monotonic();
    const account = accounts.of(accountId, nowMs);
    const { counters } = account;
    const known = leftAt(counters, plan, nowMs);
    const isSure = known.remainingRequests > 0 ? known.freeSlots > 0 : isBelieved(counters, nowMs);
    if (isSure) return known;
    const asked = look(account, plan, (atMs) => leftAt(counters, plan, atMs));
    return asked.then((found) => found ?? alone.left(accountId, plan));
  }

  async function countRefused(accountId: string, plan: Plan): Promise<void> {
    const account = accounts.of(accountId, monotonic());
    const { counters } = account;
    // The ledger has no record of refusals: a Redis restored from it later would lose this one.
    if (redis.isUp() && counters.epoch === '') await look(account, plan, () => ({}));
    const nowMs = monotonic();
    if (leftAt(counters, plan, nowMs).remainingRequests > 0) {
      take(counters, needOfRefused(plan), nowMs);
      accounts.changed(account);
    }
    if (redis.isUp()) await local.countRefused(accountId, countingPlan(plan));
    else await alone.countRefused(accountId, plan);
  }

  async function claimCount(accountId: string, plan: Plan): Promise<number | undefined> {
    if (!redis.isUp()) return alone.claimCount(accountId, plan);
    const account = accounts.of(accountId, monotonic());
    const { counters } = account;
    const wanted = wantedByCount(plan);
    const outcome = await accounts.decide<{ readonly seconds?: number }>(account, wanted, {
      take() {
        take(counters, wanted, monotonic());
        return {};
      },
      refuse(nowMs) {
        const seconds = countRefusal(counters, plan, nowMs);
        return seconds === undefined ? undefined : { seconds };
      },
    });
    if (outcome === undefined) return alone.claimCount(accountId, plan);
    if (outcome.seconds === undefined) await local.claimCount(accountId, countingPlan(plan));
    return outcome.seconds;
  }

  async function usage(accountId: string, plan: Plan): Promise<LimitUsage> {
    if (!redis.isUp()) return local.usage(accountId, plan);
    const account = accounts.of(accountId, monotonic());
    const timeMs = clock();
    const known = await look(account, plan, (nowMs) =>
      usageAt(account.counters, plan, { nowMs, timeMs }),
    );
    return known ?? local.usage(accountId, plan);
  }

  return {
    left,
    countRefused,
    claim,
    claimCount,
    usage,
    claims: local.claims,
    mode: () => (redis.isUp() ? 'cluster' : 'share'),
    counts: () => ({ ...counts, exchanges: accounts.exchanges() }),
    stop: accounts.stop,
  };
}
