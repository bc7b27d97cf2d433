// The limits of a cluster. What a request takes was mostly leased from Redis before, in batches, so
// that it goes no way; near a limit Redis decides one by one, and no limit is exceeded. While Redis
// is away, the node's own limits decide with its share. They count everything at all times.

import type { Awaitable } from '../../async/awaitable.ts';
import type { Every } from '../../async/every.ts';
import type { LimitView, Plan } from '../../core/plan.ts';
import type { Redis } from '../../store/redis/client.ts';
import type {
  AccountLimits,
  AdmissionHistory,
  ClaimRequest,
  ClaimResult,
  LimitUsage,
  Refusal,
} from '../contract.ts';
import { createLeasedAccounts, type Known, type LeasedAccount } from './accounts.ts';
import { createClaims, type OpenLeasedClaim } from './claims.ts';
import { covers, isBelieved, take } from './counters.ts';
import { createExchange } from './exchange.ts';
import {
  believedRefusal,
  countRefusal,
  decideAt,
  mayBeSpared,
  needOfRefused,
  planViewAt,
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
  /** Whether the whole cluster is counted, or each node for itself. */
  readonly mode: () => 'cluster' | 'share';
  readonly counts: () => LeasedCounts;
  /** Gives back what is not used. Answers under way go on, and end as they would. */
  readonly stop: () => Promise<void>;
};

/** Decisions since the start: at once, after an exchange with Redis, and without Redis. */
type LeasedCounts = {
  readonly local: number;
  readonly exchanged: number;
  readonly shared: number;
  /** Exchanges with Redis, those included that nobody waited for. */
  readonly exchanges: number;
};

type LeasedDependencies = {
  readonly redis: Pick<Redis, 'run' | 'isUp'>;
  /** The limits of this process alone. */
  readonly local: AccountLimits;
  /** Names this process among all that lease; each start has a new one. */
  readonly holder: string;
  /** How many nodes share the limits while Redis is away, at least 1. */
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

/** What others do not use is told of within a second, and nobody waits for it longer. */
const TURNS_MAX = 10;

export function createLeasedLimits(dependencies: LeasedDependencies): LeasedLimits {
  const { redis, local, liveNodes, clock, monotonic, prefix = 'tollgate:' } = dependencies;
  const exchange = createExchange({ ...dependencies, decide: createDecide(redis, prefix) });
  const accounts = createLeasedAccounts({ ...dependencies, isUp: redis.isUp, exchange });
  const claims = createClaims(accounts, monotonic);
  const counts = { local: 0, exchanged: 0, shared: 0 };

  /** The node's own limits count what the cluster has admitted. */
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
      // The books cannot be asked, and nobody will end it.
      claims.undo(account, taken);
      throw error;
    });
  }

  /** Without Redis: the share of this node. What it admits is told when Redis is back. */
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

  /** With the output bound that its caps leave, as far as is known. */
  function fit({ counters }: LeasedAccount, request: ClaimRequest): ClaimRequest {
    const { dailyTokens, monthlyTokens } = request.plan;
    if (dailyTokens === undefined && monthlyTokens === undefined) return request;
    const decided = decideAt(counters, request);
    return decided.kind === 'fits' ? decided.request : request;
  }

  /** Asks Redis where it has to be, and again while others may have what they do not use. */
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
        // What is known by now leaves less than what was asked for.
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

  /** Redis is asked only where nothing seems to be left. */
  function left(accountId: string, plan: Plan): Awaitable<LimitView> {
    const share = () => leftOfShare(local, accountId, plan, liveNodes());
    if (!redis.isUp()) return share();
    const nowMs = monotonic();
    const account = accounts.of(accountId, nowMs);
    const view = planViewAt(account.counters, plan, nowMs);
    if (view.remainingRequests > 0 || isBelieved(account.counters, nowMs)) return view;
    const look = ({ nowMs: atMs, isFresh }: Known) =>
      isFresh ? planViewAt(account.counters, plan, atMs) : undefined;
    const known = accounts.wait(account, wantedByUsage(plan, clock()), look);
    return known.then((found) => found ?? share());
  }

  async function countRefused(accountId: string, plan: Plan): Promise<void> {
    const account = accounts.of(accountId, monotonic());
    const { counters } = account;
    // The books know of no refusals: a Redis that is filled from them later would forget this one.
    if (redis.isUp() && counters.epoch === '') {
      await accounts.wait(account, wantedByUsage(plan, clock()), ({ isFresh }) =>
        isFresh ? {} : undefined,
      );
    }
    const nowMs = monotonic();
    if (planViewAt(counters, plan, nowMs).remainingRequests > 0) {
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
