// The accounts for which this holder leases, and the queue of their requests: one exchange with
// Redis at a time per account, shared by all waiting requests. Unused permits are returned
// automatically.

import type { Every } from '../../async/every.ts';
import { LEASE_MS } from '../open-claims.ts';
import type { LeaseRequest } from './call.ts';
import { type Counters, createCounters, hasUnused, rollWindows, slotsUsed } from './counters.ts';

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

/** The retry interval of requests that wait for permits which other nodes may not need. */
const PAUSE_MS = 100;

/** The most exchanges per request. Numbers that keep changing are no reason to wait longer. */
const EXCHANGES_MAX = 8;

export type LeasedAccount = {
  readonly counters: Counters;
  readonly queue: Waiting[];
  isBusy: boolean;
  /** Exchanges started, and the latest one answered. */
  begun: number;
  answered: number;
  /** Something scarce was returned while an exchange was in progress. */
  tellAgain: boolean;
  usedAtMs: number;
  /** The shared pause before waiting requests ask again for spare permits. */
  pause: Promise<unknown> | undefined;
};

type Waiting = {
  readonly asked: LeaseRequest;
  /** `begun` at arrival: only a later exchange may refuse it. */
  readonly since: number;
  exchanges: number;
  /** Returns whether the request was decided. */
  readonly decide: (known: Known) => boolean;
  readonly giveUp: () => void;
};

/** What may be stale by the time a request is decided. */
export type Known = {
  readonly nowMs: number;
  /** Redis answered an exchange that began after the request arrived. */
  readonly isFresh: boolean;
  /** Redis was asked on its behalf and granted what it needs. */
  readonly isGiven: boolean;
};

type AccountsDependencies = {
  readonly isUp: () => boolean;
  readonly monotonic: () => number;
  readonly isLive: (requestId: string) => boolean;
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly exchange: (counters: Counters, asked: LeaseRequest) => Promise<boolean>;
  readonly every: Every;
};

export function createLeasedAccounts(dependencies: AccountsDependencies) {
  const { isUp, monotonic, isLive, sleep, exchange, every } = dependencies;
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
      else {
        counters.claims.delete(claim);
        counters.changes += 1;
      }
    }
  }

  function of(accountId: string, nowMs: number): LeasedAccount {
    let account = accounts.get(accountId);
    if (account === undefined) {
      const counters = createCounters(accountId);
      account = {
        ...{ counters, queue: [], isBusy: false, begun: 0, answered: 0, tellAgain: false },
        ...{ usedAtMs: nowMs, pause: undefined },
      };
      accounts.set(accountId, account);
    }
    account.usedAtMs = nowMs;
    active.add(account);
    roll(account, nowMs);
    return account;
  }

  /** Whether the need was met; undefined without an answer. */
  async function ask(account: LeasedAccount, asked: LeaseRequest): Promise<boolean | undefined> {
    account.begun += 1;
    const begun = account.begun;
    exchanges += 1;
    try {
      const isGiven = await exchange(account.counters, asked);
      account.answered = begun;
      return isGiven;
    } catch {
      // Redis or the ledger is unavailable; the breaker and the ledger alert the operator. Permits
      // that Redis may have granted in this call are unusable and must be returned once it is back.
      account.counters.changes += 1;
      active.add(account);
      return undefined;
    }
  }

  /** Decides the waiting requests in order, with exchanges in between. */
  async function serve(account: LeasedAccount, tell: boolean): Promise<void> {
    if (account.isBusy) return;
    account.isBusy = true;
    let telling = tell;
    let given: Waiting | undefined;
    for (;;) {
      const nowMs = monotonic();
      roll(account, nowMs);
      const next = account.queue[0];
      if (next === undefined && !telling) break;
      const isFresh = next !== undefined && next.since < account.answered;
      const isGiven = next !== undefined && next === given;
      given = undefined;
      if (next?.decide({ nowMs, isFresh, isGiven }) === true) {
        account.queue.shift();
        continue;
      }
      telling = false;
      const asked = next === undefined ? PRESENT : withWaiting(next, account.queue);
      const mayAsk = (next?.exchanges ?? 0) < EXCHANGES_MAX;
      const answer = mayAsk ? await ask(account, asked) : undefined;
      const isAnswered = answer !== undefined;
      if (answer === true) given = next;
      if (next !== undefined) next.exchanges += 1;
      if (!isAnswered) for (const each of account.queue.splice(0)) each.giveUp();
      if (account.tellAgain && isAnswered) telling = true;
      account.tellAgain = false;
    }
    account.isBusy = false;
  }

  /** Something was used or returned. If slots are scarce, other nodes may be waiting for it. */
  function changed(account: LeasedAccount): void {
    const { counters } = account;
    counters.changes += 1;
    active.add(account);
    // Permits granted long ago cannot be used here any more either.
    const isStale = monotonic() - counters.knownAtMs >= TELL_MS;
    if (!isUp() || !(isStale || isScarce(counters))) return;
    if (account.isBusy) account.tellAgain = true;
    else void serve(account, true);
  }

  function isScarce({ slots }: Counters): boolean {
    for (const { mayKeep } of slots.values()) if (!mayKeep) return true;
    return false;
  }

  function sweep(): void {
    const nowMs = monotonic();
    let calls = 0;
    for (const account of active) {
      if (account.isBusy) continue;
      roll(account, nowMs);
      const { counters } = account;
      const isReported = counters.changes === counters.reported && !hasUnused(counters);
      if (isReported && counters.claims.size === 0) active.delete(account);
      const silentMs = nowMs - counters.knownAtMs;
      const renews = silentMs >= RENEW_MS && slotsUsed(counters, 'all') > 0;
      if (!isUp() || !(renews || (!isReported && silentMs >= TELL_MS))) continue;
      calls += 1;
      if (calls > CALLS_A_SWEEP) break;
      void serve(account, true);
    }
    sweeps += 1;
    if (sweeps % (FORGET_MS / SWEEP_MS) !== 0) return;
    for (const [accountId, account] of accounts) {
      const idle = !account.isBusy && !active.has(account) && nowMs - account.usedAtMs > FORGET_MS;
      if (idle) accounts.delete(accountId);
    }
  }

  /**
   * Resolves to the result of `decide`, which is called until it decides: first with the known
   * state, then with each answer of Redis. Undefined if there is no answer.
   */
  function wait<T extends object | string>(
    account: LeasedAccount,
    asked: LeaseRequest,
    decide: (known: Known) => T | undefined,
  ): Promise<T | undefined> {
    return new Promise((resolve) => {
      account.queue.push({
        asked,
        since: account.begun,
        exchanges: 0,
        decide(known) {
          const outcome = decide(known);
          if (outcome !== undefined) resolve(outcome);
          return outcome !== undefined;
        },
        giveUp: () => resolve(undefined),
      });
      void serve(account, false);
    });
  }

  const stopSweeping = every(SWEEP_MS, sweep);

  return {
    of,
    roll,
    changed,
    isIdle: ({ isBusy, queue }: LeasedAccount): boolean => !isBusy && queue.length === 0,
    exchanges: () => exchanges,
    wait,
    /** Resolves when other nodes have had time to report unused permits. */
    async pause(account: LeasedAccount): Promise<void> {
      account.pause ??= sleep(PAUSE_MS).finally(() => {
        account.pause = undefined;
      });
      await account.pause;
    },
    async stop(): Promise<void> {
      stopSweeping();
      // The report of an exchange that is already in progress may be outdated.
      const isReported = ({ isFresh }: Known) => (isFresh ? {} : undefined);
      await Promise.all([...active].map((account) => wait(account, PRESENT, isReported)));
    },
  };
}

export type LeasedAccounts = ReturnType<typeof createLeasedAccounts>;

/** Reports usage and requests nothing. */
const PRESENT: LeaseRequest = { periods: [] };

/** Adds what the queued requests need, as long as there is plenty. */
function withWaiting({ asked }: Waiting, queue: readonly Waiting[]): LeaseRequest {
  let count = 0;
  let tokens = 0;
  for (const { asked: other } of queue.slice(1)) {
    count += other.need?.take[0] ?? 0;
    tokens += other.need?.take[1] ?? 0;
  }
  return { ...asked, waiting: [count, tokens] };
}
