// The accounts that this holder leases for, and the order in which their requests are decided: one
// exchange with Redis at a time for each, for all who wait. What is not used goes back by itself.

import type { Every } from '../../async/every.ts';
import { LEASE_MS } from '../open-claims.ts';
import type { LeaseRequest } from './call.ts';
import { type Counters, createCounters, hasUnused, rollWindows, slotsUsed } from './counters.ts';

/** How often it is looked what has to be told. */
const SWEEP_MS = 250;

/** What has changed, or is not used, waits so long for the next call. Less than permits last. */
const TELL_MS = 500;

/** Slots in use are renewed long before they would be lost. */
const RENEW_MS = LEASE_MS / 3;

/** An account that is not used for so long is forgotten: Redis knows it all. */
const FORGET_MS = 120_000;

/** Calls that one sweep makes at most: after an outage everything is told, but not at once. */
const CALLS_A_SWEEP = 500;

/** Who waits for what others may not use asks again so often. */
const PAUSE_MS = 100;

/** Nobody waits for more exchanges: numbers that change under a request's eyes are nobody's mistake. */
const EXCHANGES_MAX = 8;

export type LeasedAccount = {
  readonly counters: Counters;
  readonly queue: Waiting[];
  isBusy: boolean;
  /** Exchanges that have begun, and the latest of them that was answered. */
  begun: number;
  answered: number;
  /** Something scarce was given back while an exchange was under way. */
  tellAgain: boolean;
  usedAtMs: number;
  /** Until those who wait for what others may not use ask again, all at once. */
  pause: Promise<unknown> | undefined;
};

type Waiting = {
  readonly asked: LeaseRequest;
  /** `begun` when it came: only a later exchange may refuse it. */
  readonly since: number;
  exchanges: number;
  /** Whether it is decided. */
  readonly decide: (known: Known) => boolean;
  readonly giveUp: () => void;
};

/** What may be gone by when a request is decided. */
export type Known = {
  readonly nowMs: number;
  /** Redis was asked after it came. */
  readonly isFresh: boolean;
  /** Redis was asked for it, and has given what it needs. */
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
  /** Those that Redis may have to be told about. */
  const active = new Set<LeasedAccount>();
  let exchanges = 0;
  let sweeps = 0;

  /** Lets go of windows that have run out and of slots whose request is gone. */
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
      // Redis is away, or the books are: the breaker and the ledger tell the operator. What Redis may
      // have given all the same is of no use here, and has to go back as soon as it is heard again.
      account.counters.changes += 1;
      active.add(account);
      return undefined;
    }
  }

  /** Decides for those who wait, one after the other, and asks Redis in between. */
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

  /** Something was used or given back. Where slots are scarce, others may be waiting for it. */
  function changed(account: LeasedAccount): void {
    const { counters } = account;
    counters.changes += 1;
    active.add(account);
    // What was given long ago is of no use here either.
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
      const isTold = counters.changes === counters.told && !hasUnused(counters);
      if (isTold && counters.claims.size === 0) active.delete(account);
      const silentMs = nowMs - counters.knownAtMs;
      const renews = silentMs >= RENEW_MS && slotsUsed(counters, 'all') > 0;
      if (!isUp() || !(renews || (!isTold && silentMs >= TELL_MS))) continue;
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
   * Resolves to what `decide` makes of it, which is called until it decides: at first with what is
   * known, then with what Redis has answered. Undefined where there is no answer.
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
    /** Resolves when others may have told of what they do not use. */
    async pause(account: LeasedAccount): Promise<void> {
      account.pause ??= sleep(PAUSE_MS).finally(() => {
        account.pause = undefined;
      });
      await account.pause;
    },
    async stop(): Promise<void> {
      stopSweeping();
      // What an exchange tells that is under way by now may be less than there is to tell.
      const isTold = ({ isFresh }: Known) => (isFresh ? {} : undefined);
      await Promise.all([...active].map((account) => wait(account, PRESENT, isTold)));
    },
  };
}

export type LeasedAccounts = ReturnType<typeof createLeasedAccounts>;

/** Tells what is used, and asks for nothing. */
const PRESENT: LeaseRequest = { periods: [] };

/** What others behind the first one wait for is asked for with it, as far as there is plenty. */
function withWaiting({ asked }: Waiting, queue: readonly Waiting[]): LeaseRequest {
  let count = 0;
  let tokens = 0;
  for (const { asked: other } of queue.slice(1)) {
    count += other.need?.take[0] ?? 0;
    tokens += other.need?.take[1] ?? 0;
  }
  return { ...asked, waiting: [count, tokens] };
}
