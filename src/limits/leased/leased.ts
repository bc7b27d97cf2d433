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
import { createLeasedAccounts, type Known, type LeasedAccount } from './accounts.ts';
import { createClaims, type OpenLeasedClaim } from './claims.ts';
import { covers, isBelieved, take } from './counters.ts';
import { createExchange, type ExchangeDependencies } from './exchange.ts';
import {
  believedRefusal,
  countRefusal,
  decideAt,
  leftAt,
  mayBeSpared,
  needOfRefused,
  refusalAt,
  usageAt,
  viewAt,
  wantedBy,
  wantedByCount,
  wantedByUsage,
} from './needs.ts';
import { createDecide } from './script.ts';
import { countingPlan, planShare } from './share.ts';
import { claimShare, leftOfShare } from './share-limits.ts';

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
    readonly redis: Pick<Redis, 'run' | 'isUp'>;
    /** The limits of this process alone. */
    readonly local: AccountLimits;
    readonly every: Every;
    /** The prefix of every key. */
    readonly prefix?: string;
  };

/** The most retries: unused permits of other nodes are reported within a second. */
const TURNS_MAX = 10;

export function createLeasedLimits(dependencies: LeasedDependencies): LeasedLimits {
  const { redis, local, liveNodes, clock, monotonic, prefix = 'tollgate:' } = dependencies;
  const exchange = createExchange({ ...dependencies, decide: createDecide(redis, prefix) });
  const accounts = createLeasedAccounts({ ...dependencies, isUp: redis.isUp, exchange });
  const claims = createClaims(accounts, monotonic);
  const counts = { local: 0, exchanged: 0, shared: 0 };

  /** The node's own limits also count what the cluster admitted. */
  function counted(
    account: LeasedAccount,
    request: ClaimRequest,
    taken: OpenLeasedClaim,
  ): Awaitable<ClaimResult> {
    const view = viewAt(account.counters, request, monotonic());
    const plan = countingPlan(request.plan);
    const done = (result: ClaimResult): ClaimResult => {
      if (result.kind === 'claimed') {
        const claim = claims.open(account, request, taken, result.claim, view);
        return { kind: 'claimed', claim };
      }
      claims.undo(account, taken);
      return result;
    };
    const result = local.claim({ ...request, plan, incident: undefined });
    if (!(result instanceof Promise)) return done(result);
    return result.then(done, (error: unknown) => {
      // The ledger is unavailable, and no caller will end this claim.
      claims.undo(account, taken);
      throw error;
    });
  }

  /** Decides without Redis, by this node's share. Admissions are reported when Redis is back. */
  async function claimAlone(request: ClaimRequest): Promise<ClaimResult> {
    counts.shared += 1;
    const result = await claimShare(local, request, liveNodes());
    if (result.kind === 'refused') return result;
    const fitted = { ...request, outputBound: result.claim.outputBound };
    const account = accounts.of(request.accountId, monotonic());
    const taken = claims.take(account, fitted, wantedBy(fitted));
    accounts.changed(account);
    return {
      kind: 'claimed',
      claim: claims.open(account, fitted, taken, result.claim, result.claim.view),
    };
  }

  function claim(request: ClaimRequest): Awaitable<ClaimResult> {
    if (!redis.isUp()) return claimAlone(request);
    const nowMs = monotonic();
    const account = accounts.of(request.accountId, nowMs);
    const fitted = fit(account, request);
    const wanted = wantedBy(fitted);
    if (accounts.isIdle(account) && covers(account.counters, wanted.need, nowMs)) {
      counts.local += 1;
      return counted(account, fitted, claims.take(account, fitted, wanted));
    }
    return claimInTurn(account, request);
  }

  /** The request with the output bound that its caps leave, as far as is known. */
  function fit({ counters }: LeasedAccount, request: ClaimRequest): ClaimRequest {
    const { dailyTokens, monthlyTokens } = request.plan;
    if (dailyTokens === undefined && monthlyTokens === undefined) return request;
    const decided = decideAt(counters, request);
    return decided.kind === 'fits' ? decided.request : request;
  }

  /** Asks Redis if necessary, and again while other nodes may have spare permits. */
  async function claimInTurn(account: LeasedAccount, request: ClaimRequest): Promise<ClaimResult> {
    const { counters, begun } = account;
    for (let turn = 1; ; turn += 1) {
      const fitted = fit(account, request);
      const wanted = wantedBy(fitted);
      const decide = ({
        nowMs,
        isFresh,
        isGiven,
      }: Known): OpenLeasedClaim | Refusal | 'lower' | undefined => {
        if (isGiven || covers(counters, wanted.need, nowMs)) {
          return claims.take(account, fitted, wanted);
        }
        const refuse = isFresh ? refusalAt : believedRefusal;
        const refusal = refuse(counters, request, { nowMs, timeMs: clock() });
        if (refusal !== undefined || !isFresh) return refusal;
        // The newer state leaves less than was requested.
        const known = fit(account, request);
        return known.outputBound < fitted.outputBound ? 'lower' : undefined;
      };
      const outcome = await accounts.wait(account, wanted, decide);
      if (outcome === undefined) return claimAlone(request);
      if (outcome === 'lower') continue;
      const isRefused = 'code' in outcome;
      if (isRefused && turn < TURNS_MAX && mayBeSpared(counters, wanted)) {
        await accounts.pause(account);
        continue;
      }
      counts[account.begun > begun ? 'exchanged' : 'local'] += 1;
      return isRefused ? outcome : counted(account, fitted, outcome);
    }
  }

  /** Asks Redis only if nothing seems to be left. Slots are returned at any time. */
  function left(accountId: string, plan: Plan): Awaitable<AccountLeft> {
    const share = () => leftOfShare(local, accountId, plan, liveNodes());
    if (!redis.isUp()) return share();
    const nowMs = monotonic();
    const account = accounts.of(accountId, nowMs);
    const known = leftAt(account.counters, plan, nowMs);
    const isSure =
      known.remainingRequests > 0 ? known.freeSlots > 0 : isBelieved(account.counters, nowMs);
    if (isSure) return known;
    const look = ({ nowMs: atMs, isFresh }: Known) =>
      isFresh ? leftAt(account.counters, plan, atMs) : undefined;
    const asked = accounts.wait(account, wantedByUsage(plan, clock()), look);
    return asked.then((found) => found ?? share());
  }

  async function countRefused(accountId: string, plan: Plan): Promise<void> {
    const account = accounts.of(accountId, monotonic());
    const { counters } = account;
    // The ledger has no record of refusals: a Redis restored from it later would lose this one.
    if (redis.isUp() && counters.epoch === '') {
      await accounts.wait(account, wantedByUsage(plan, clock()), ({ isFresh }) =>
        isFresh ? {} : undefined,
      );
    }
    const nowMs = monotonic();
    if (leftAt(counters, plan, nowMs).remainingRequests > 0) {
      take(counters, needOfRefused(plan), nowMs);
      accounts.changed(account);
    }
    const own = redis.isUp() ? countingPlan(plan) : planShare(plan, liveNodes());
    await local.countRefused(accountId, own);
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
        const isKnown = isFresh || isBelieved(counters, atMs);
        const seconds = isKnown ? countRefusal(counters, plan, atMs) : undefined;
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
