// The accounts for which this holder leases. Each has one exchange with Redis at a time, shared by
// the requests that wait in line. Unused permits are returned after a while, or when another holder
// wants them.

import type { Every } from '../../async/every.ts';
import type { Redis } from '../../store/redis/client.ts';
import { LEASE_MS } from '../open-claims.ts';
import {
  type Counters,
  covers,
  createCounters,
  hasUnused,
  isBelieved,
  lose,
  mayBeSpared,
  plus,
  rollWindows,
} from './counters.ts';
import type { LeaseRequest } from './exchange.ts';
import { createRecalls, type RecallsDependencies } from './recalls.ts';
import type { Pair } from './script.ts';

/** How often the sweep looks for changes to report. */
const SWEEP_MS = 250;

/**
 * Changes and unused permits wait this long for the next call. Must be below the permits' lifetime.
 */
const TELL_MS = 500;

/** Slots in use are renewed well before their lease expires. */
const RENEW_MS = LEASE_MS / 3;

/** An account unused for this long is evicted: Redis has all of it. */
const FORGET_MS = 120_000;

/** The most calls of one sweep, so that the reports after an outage are spread out. */
const CALLS_A_SWEEP = 500;

/** The most exchanges per request. */
export const TRIPS_MAX = 3;

export type LeasedAccount = {
  readonly counters: Counters;
  /** Resolves when the exchange in progress and those that wait behind it have ended. */
  turn: Promise<unknown>;
  /** What is in line, or in an exchange, and what its requests would take. */
  inLine: number;
  waiting: Pair;
  /** Exchanges started, the latest one answered, and how many failed. */
  begun: number;
  answered: number;
  failures: number;
  /** A report is in line. */
  isReporting: boolean;
  usedAtMs: number;
};

type Deciding<Outcome> = {
  readonly take: () => Outcome;
  /**
   * From the known state; `isFresh`: Redis has answered since the request arrived. Undefined if Redis
   * has to be asked.
   */
  readonly refuse: (nowMs: number, isFresh: boolean) => Outcome | undefined;
};

type AccountsDependencies = Omit<RecallsDependencies, 'giveUp'> & {
  readonly redis: Pick<Redis, 'isUp'>;
  readonly monotonic: () => number;
  readonly isLive: (requestId: string) => boolean;
  readonly exchange: (counters: Counters, asked: LeaseRequest) => Promise<boolean>;
  readonly every: Every;
};

export function createLeasedAccounts(dependencies: AccountsDependencies) {
  const { redis, monotonic, isLive, exchange, every } = dependencies;
  const recalls = createRecalls({ ...dependencies, giveUp });
  const accounts = new Map<string, LeasedAccount>();
  /** Accounts with possible changes to report to Redis. */
  const active = new Set<LeasedAccount>();
  let exchanges = 0;
  let sweeps = 0;

  /** Releases expired windows and the slots of requests that are gone. */
  function roll({ counters }: LeasedAccount, nowMs: number): void {
    rollWindows(counters, nowMs);
    for (const claim of counters.claims) {
      if (claim.leaseUntil > nowMs) continue;
      if (isLive(claim.requestId)) claim.leaseUntil = nowMs + LEASE_MS;
      else lose(counters, claim);
    }
  }

  function of(accountId: string, nowMs: number): LeasedAccount {
    let account = accounts.get(accountId);
    if (account === undefined) {
      account = {
        counters: createCounters(accountId),
        turn: Promise.resolve(),
        inLine: 0,
        waiting: [0, 0],
        begun: 0,
        answered: 0,
        failures: 0,
        isReporting: false,
        usedAtMs: nowMs,
      };
      accounts.set(accountId, account);
    }
    account.usedAtMs = nowMs;
    active.add(account);
    roll(account, nowMs);
    return account;
  }

  /** Runs when the account has no exchange in progress, and nothing waits before it. */
  function inTurn<T>(account: LeasedAccount, work: () => Promise<T>): Promise<T> {
    account.inLine += 1;
    const done = account.turn.then(work).finally(() => {
      account.inLine -= 1;
    });
    account.turn = done.catch(() => {});
    return done;
  }

  /** Whether the need was met; undefined without an answer. */
  async function ask(account: LeasedAccount, asked: LeaseRequest): Promise<boolean | undefined> {
    account.begun += 1;
    const { begun } = account;
    exchanges += 1;
    try {
      const isGiven = await exchange(account.counters, asked);
      account.answered = begun;
      return isGiven;
    } catch {
      // Redis or the ledger is unavailable; the breaker and the ledger alert the operator. Permits
      // that Redis may have granted in this call are unusable and must be returned once it is back.
      account.failures += 1;
      account.counters.changes += 1;
      active.add(account);
      return undefined;
    }
  }

  /**
   * Decides a request, after exchanges with Redis if necessary: one on its behalf, and another one
   * for permits that other nodes have returned. Undefined without an answer.
   */
  async function decide<Outcome extends object | string>(
    account: LeasedAccount,
    wanted: LeaseRequest,
    { take, refuse }: Deciding<Outcome>,
    trips = { left: TRIPS_MAX },
  ): Promise<Outcome | undefined> {
    const { counters } = account;
    for (;;) {
      let isTaken = false;
      const { begun, failures } = account;
      account.waiting = plus(account.waiting, wanted.take);
      const outcome = await inTurn(account, async () => {
        account.waiting = plus(account.waiting, wanted.take, -1);
        for (let isGiven = false; ; ) {
          const nowMs = monotonic();
          roll(account, nowMs);
          isTaken = isGiven || covers(counters, wanted, nowMs);
          if (isTaken) return take();
          const isFresh = begun < account.answered;
          const isKnown = isBelieved(counters, nowMs) && !mayBeSpared(counters, wanted);
          const refused = isFresh || isKnown ? refuse(nowMs, isFresh) : undefined;
          // A request that waited behind a failed exchange does not try another one.
          const mayAsk = trips.left > 0 && account.failures === failures;
          if (refused !== undefined || !mayAsk) return refused;
          trips.left -= 1;
          const answer = await ask(account, { ...wanted, waiting: account.waiting });
          if (answer === undefined) return undefined;
          isGiven = answer;
        }
      });
      const isRefused = typeof outcome === 'object' && !isTaken;
      if (!isRefused || trips.left === 0 || !mayBeSpared(counters, wanted)) return outcome;
      await recalls.recall(counters.accountId);
    }
  }

  /** Returns whether Redis has answered since. */
  function refresh(account: LeasedAccount, asked: LeaseRequest): Promise<boolean> {
    const { begun, failures } = account;
    return inTurn(account, async () => {
      if (begun < account.answered) return true;
      return account.failures === failures && (await ask(account, asked)) !== undefined;
    });
  }

  function isReported({ counters }: LeasedAccount): boolean {
    return counters.changes === counters.reported && !hasUnused(counters);
  }

  /** Reports usage and returns what is unused, unless the exchanges before have done so. */
  function report(account: LeasedAccount): void {
    if (account.isReporting) return;
    account.isReporting = true;
    void inTurn(account, async () => {
      account.isReporting = false;
      const silentMs = monotonic() - account.counters.knownAtMs;
      if (!isReported(account) || silentMs >= RENEW_MS) await ask(account, PRESENT);
    });
  }

  /** Returns all that is unused to another holder that waits for it. */
  async function giveUp(accountId: string): Promise<void> {
    const account = accounts.get(accountId);
    if (account === undefined || (isReported(account) && account.counters.isScarce)) return;
    await inTurn(account, () => ask(account, RETURN));
  }

  /** Something was used or returned. If slots are scarce, other nodes may be waiting for it. */
  function changed(account: LeasedAccount): void {
    const { counters } = account;
    active.add(account);
    // Permits granted long ago cannot be used here any more either.
    const isStale = monotonic() - counters.knownAtMs >= TELL_MS;
    if (redis.isUp() && (isStale || counters.isScarce)) report(account);
  }

  function sweep(): void {
    const nowMs = monotonic();
    let calls = 0;
    for (const account of active) {
      if (account.inLine > 0) continue;
      roll(account, nowMs);
      const { claims, knownAtMs } = account.counters;
      const isDone = isReported(account);
      if (isDone && claims.size === 0) active.delete(account);
      const silentMs = nowMs - knownAtMs;
      const renews = silentMs >= RENEW_MS && claims.values().some(({ hasSlot }) => hasSlot);
      if (!redis.isUp() || !(renews || (!isDone && silentMs >= TELL_MS))) continue;
      calls += 1;
      if (calls > CALLS_A_SWEEP) break;
      report(account);
    }
    sweeps += 1;
    if (sweeps % (FORGET_MS / SWEEP_MS) !== 0) return;
    for (const [accountId, account] of accounts) {
      const isIdle = account.inLine === 0 && !active.has(account);
      if (isIdle && nowMs - account.usedAtMs > FORGET_MS) accounts.delete(accountId);
    }
  }

  const stopSweeping = every(SWEEP_MS, sweep);

  return {
    of,
    roll,
    changed,
    exchanges: () => exchanges,
    decide,
    refresh,
    async stop(): Promise<void> {
      recalls.stop();
      stopSweeping();
      // The report of an exchange that is already in progress may be outdated.
      await Promise.all([...active].map((each) => inTurn(each, () => ask(each, RETURN))));
    },
  };
}

/** Reports usage, and asks for more only while the account is busy. */
const PRESENT: LeaseRequest = { take: [0, 0], counters: [] };

/** Reports usage and keeps nothing beyond it. */
const RETURN: LeaseRequest = { ...PRESENT, returns: true };

export type LeasedAccounts = ReturnType<typeof createLeasedAccounts>;
