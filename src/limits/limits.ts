// The limits of one process: request and token windows, concurrency leases, daily and monthly caps.
// All five are decided together, in one section under one lock; a refusal consumes nothing. `generate`
// claims before it holds money, and ends every claim exactly once.

import { type Awaitable, andThen, createSingleFlight, together } from '../async/awaitable.ts';
import type { IncidentLimits, LimitView } from '../core/plan.ts';
import { createAccounts, RECORD, type Taken } from './accounts.ts';
import { createPast } from './admission-history.ts';
import type {
  AccountLimits,
  Claim,
  ClaimRequest,
  ClaimResult,
  LimitsDependencies,
  LimitUsage,
  OpenClaimRecord,
} from './contract.ts';
import { createOpenClaims, LEASE_MS } from './open-claims.ts';
import { createCalendar, type Periods, type Unknown } from './periods.ts';
import { decide, planView, refusalOf, tokensOf, UNUSED, viewOf } from './scope.ts';
import { createTableMemory } from './table.ts';

/** Records at first: the memory grows. */
const OWN_CAPACITY = 256;

/** Where shared memory has no room for an account. */
const FULL = { refusal: { code: 'concurrency_limit_exceeded' }, rest: 0 } as const;

const NO_LIMITS: IncidentLimits = {};

/** With days and months: of each, whether also that has to be known which was used before. */
type Asked = Pick<ClaimRequest, 'accountId' | 'plan'> & {
  readonly periods?: Periods;
  readonly used?: readonly [day: boolean, month: boolean];
};

type Open = OpenClaimRecord & { leaseUntil: number; readonly taken: Taken };

/** `history` is asked for the last minute at once, and for days and months when they matter. */
export function createLimits(dependencies: LimitsDependencies): AccountLimits {
  const { clock, monotonic, isLive, history } = dependencies;
  const past = createPast(history, clock, monotonic);
  const memory = createTableMemory({ ...RECORD, threads: 1, capacity: OWN_CAPACITY });
  const accounts = createAccounts(memory, 0, past.of);
  const { periods } = accounts;
  const periodsAt = createCalendar();
  const locked = <T>(section: () => T): T => section();
  const claims = createOpenClaims<Open>(isLive, ({ taken }) =>
    locked(() => accounts.end(taken, monotonic())),
  );
  const asking = createSingleFlight();

  /** Asks the books for what is not known; look again when the promise is kept. */
  function learn({ accountId, plan }: Asked, unknown: Unknown): Promise<void> | undefined {
    const { period, mark } = unknown;
    return asking(
      accountId,
      () => (mark === undefined ? history.mark() : history.usedBefore(accountId, period, mark)),
      (answer) =>
        locked(() => periods.know(accounts.find(accountId, plan, monotonic()), unknown, answer)),
    );
  }

  /** Runs a section on the record of an account once all is known that it needs. */
  function withAccount<T>(
    asked: Asked,
    section: (account: number, nowMs: number) => T,
  ): Awaitable<T> {
    const { accountId, plan, periods: of, used } = asked;
    const again = (): Awaitable<T> => withAccount(asked, section);
    const loading = past.load();
    if (loading !== undefined) return loading.then(again);
    const nowMs = monotonic();
    claims.roll(nowMs, accountId);
    let unknown: Unknown | undefined;
    const value = locked(() => {
      const account = accounts.find(accountId, plan, nowMs);
      unknown = of && used && periods.unknown(account, of, used);
      return unknown === undefined ? section(account, nowMs) : undefined;
    });
    if (unknown === undefined) return value as T;
    return learn(asked, unknown)?.then(again) ?? again();
  }

  /** What applies to a request: its plan, and its model with the limits that it has at the moment. */
  function scopesOf(request: ClaimRequest, nowMs: number) {
    const { accountId, model, plan, incident = NO_LIMITS } = request;
    const ofModel = accounts.findModel(accountId, model, nowMs);
    // After it: the table may have grown for the model, which moves every record.
    const records = [accounts.find(accountId, plan, nowMs), ofModel] as const;
    const ofPlan = accounts.scope(records[0], plan, nowMs);
    return { records, scopes: [ofPlan, accounts.scope(ofModel, incident, nowMs)] as const };
  }

  /** Decides, and takes what it decides to give. */
  function claimNow(asked: ClaimRequest, of: Periods, nowMs: number): ClaimResult {
    const { plan } = asked;
    const { records, scopes } = scopesOf(asked, nowMs);
    const [account] = records;
    const times = { nowMs, timeMs: clock() };
    if (records.includes(0)) return refusalOf({ ...FULL, request: asked }, scopes, times);
    const decided = decide(asked, {
      scopes,
      day: plan.dailyTokens === undefined ? UNUSED : periods.used(account, of[0]),
      month: plan.monthlyTokens === undefined ? UNUSED : periods.used(account, of[1]),
    });
    if (decided.kind === 'refused') return refusalOf(decided, scopes, times);
    const { request } = decided;
    const taken = accounts.take(records, scopes, of, tokensOf(request), nowMs);
    return {
      kind: 'claimed',
      claim: openClaim(request, taken, viewOf(asked, scopes, nowMs), nowMs),
    };
  }

  function openClaim(request: ClaimRequest, taken: Taken, view: LimitView, nowMs: number): Claim {
    const { requestId, accountId, startedAt, outputBound } = request;
    const open: Open = { requestId, accountId, startedAt, taken, leaseUntil: nowMs + LEASE_MS };
    claims.add(open);
    let ended = false;
    /** Frees the slot and corrects the caps, once; and does what belongs to the same section. */
    const end = (usedTokens: number, also?: (endedMs: number) => void): void => {
      if (ended) return;
      ended = true;
      claims.remove(open);
      const endedMs = monotonic();
      locked(() => {
        accounts.end(taken, endedMs, usedTokens);
        also?.(endedMs);
      });
    };
    return {
      view,
      outputBound,
      freeSlot: () => locked(() => accounts.freeSlot(taken)),
      settle: (usedTokens) => end(usedTokens),
      cancel(keeps) {
        end(0, (endedMs) => accounts.giveBack(taken, keeps, endedMs));
        return withAccount(request, (_account, laterMs) =>
          viewOf(request, scopesOf(request, laterMs).scopes, laterMs),
        );
      },
    };
  }

  /** Of an account for which there is no room: nothing counts but what the books have. */
  function usageOfBooks(accountId: string, of: Periods, usage: LimitUsage): Awaitable<LimitUsage> {
    const used = andThen(history.mark(), (mark) =>
      together(of.map((period) => history.usedBefore(accountId, period, mark))),
    );
    return andThen(used, ([dayTokens = 0, monthTokens = 0]) => {
      return { ...usage, dayTokens, monthTokens };
    });
  }

  return {
    left: (accountId, plan) =>
      withAccount({ accountId, plan }, (account, nowMs) =>
        planView(plan, accounts.windowOf(account, nowMs), nowMs),
      ),
    async countRefused(accountId, plan) {
      await withAccount({ accountId, plan }, (account, nowMs) =>
        accounts.countRequest(account, 'generate', plan, nowMs),
      );
    },
    claim(request) {
      const { accountId, plan, startedAt } = request;
      const of = periodsAt(startedAt);
      const used = [plan.dailyTokens !== undefined, plan.monthlyTokens !== undefined] as const;
      return withAccount({ accountId, plan, periods: of, used }, (_account, nowMs) =>
        claimNow(request, of, nowMs),
      );
    },
    claimCount: (accountId, plan) =>
      withAccount({ accountId, plan }, (account, nowMs) =>
        accounts.countRequest(account, 'count', plan, nowMs),
      ),
    usage(accountId, plan) {
      const of = periodsAt(clock());
      const asked = { accountId, plan, periods: of, used: [true, true] } as const;
      const found = withAccount(asked, (account, nowMs) => {
        return { isKnown: account !== 0, usage: accounts.usage(account, of, nowMs) };
      });
      return andThen(found, ({ isKnown, usage }) =>
        isKnown ? usage : usageOfBooks(accountId, of, usage),
      );
    },
    claims: () => claims.list(monotonic()),
  };
}
