// The limits of one process: request and token windows, concurrency leases, daily and monthly caps.
// All five are decided together, and a refusal consumes nothing. `generate` claims before it holds
// money, and ends every claim exactly once.

import { type Awaitable, createSingleFlight } from '../async/awaitable.ts';
import type { Tokens } from '../core/money.ts';
import type { LimitView, Plan } from '../core/plan.ts';
import { giveBack, type RateWindow, resetSeconds, takeFrom } from '../core/window.ts';
import { type AccountUse, AccountUses, type ModelUse } from './accounts.ts';
import { createPast } from './admission-history.ts';
import type {
  AccountLeft,
  AccountLimits,
  Claim,
  ClaimRequest,
  ClaimResult,
  LimitsDependencies,
  LimitUsage,
} from './contract.ts';
import { LEASE_MS, OpenClaims } from './open-claims.ts';
import { createCalendar, type Period, type PeriodUse } from './periods.ts';
import { decide, leftOf, refusalOf, tokensOf, viewOf } from './scope.ts';

/** Reads the last minute from `history` immediately, and days and months when needed. */
export function createLimits(dependencies: LimitsDependencies): AccountLimits {
  const { clock, monotonic, isLive, history } = dependencies;
  const past = createPast(history, clock, monotonic);
  const accounts = new AccountUses(past.of);
  const periodsAt = createCalendar();
  const claims = new OpenClaims<ProcessClaim>(isLive);
  const asking = createSingleFlight();
  const host: ClaimHost = { claims, monotonic, viewOf: viewFor };

  /** The account's current usage, or a promise after which to call again. */
  function find(accountId: string, plan: Plan, nowMs: number): AccountUse | Promise<void> {
    const loading = past.load();
    if (loading !== undefined) return loading;
    claims.roll(nowMs, accountId);
    return accounts.find(accountId, plan, nowMs);
  }

  /** The usage of a period, or a promise after which to call again. */
  function useOf(
    account: AccountUse,
    period: Period,
    isCapped: boolean,
  ): PeriodUse | Promise<void> {
    const { id } = account;
    const use = account.periodOf(period);
    if (use === undefined) {
      const begun = asking(id, history.mark, (mark) => account.begin(period, mark));
      return begun ?? useOf(account, period, isCapped);
    }
    if (!isCapped || use.before !== undefined) return use;
    const known = asking(
      id,
      () => history.usedBefore(id, period, use.mark),
      (before) => {
        use.before = before;
      },
    );
    return known ?? use;
  }

  function left(accountId: string, plan: Plan): Awaitable<AccountLeft> {
    const nowMs = monotonic();
    const account = find(accountId, plan, nowMs);
    if (account instanceof Promise) return account.then(() => left(accountId, plan));
    return leftOf(plan, account, nowMs);
  }

  function claim(request: ClaimRequest): Awaitable<ClaimResult> {
    const { accountId, plan, startedAt } = request;
    const nowMs = monotonic();
    const account = find(accountId, plan, nowMs);
    if (account instanceof Promise) return account.then(() => claim(request));
    const periods = periodsAt(startedAt);
    const day = useOf(account, periods[0], plan.dailyTokens !== undefined);
    if (day instanceof Promise) return day.then(() => claim(request));
    const month = useOf(account, periods[1], plan.monthlyTokens !== undefined);
    if (month instanceof Promise) return month.then(() => claim(request));
    const used = { ofPlan: account, ofModel: account.modelOf(request.model, nowMs), day, month };
    const decided = decide(request, used);
    if (decided.kind === 'refused') return refusalOf(decided, used, { nowMs, timeMs: clock() });
    return { kind: 'claimed', claim: new ProcessClaim(host, decided.request, used, nowMs) };
  }

  /** The remaining limits for a request that is not counted. */
  function viewFor(request: ClaimRequest): Awaitable<LimitView> {
    const nowMs = monotonic();
    const account = find(request.accountId, request.plan, nowMs);
    if (account instanceof Promise) return account.then(() => viewFor(request));
    const used = { ofPlan: account, ofModel: account.modelOf(request.model, nowMs) };
    return viewOf(request, used, nowMs);
  }

  async function countRefused(accountId: string, plan: Plan): Promise<void> {
    const nowMs = monotonic();
    const account = find(accountId, plan, nowMs);
    if (account instanceof Promise) return account.then(() => countRefused(accountId, plan));
    countRequest(account.window, plan, nowMs);
  }

  function claimCount(accountId: string, plan: Plan): Awaitable<number | undefined> {
    const nowMs = monotonic();
    const account = find(accountId, plan, nowMs);
    if (account instanceof Promise) return account.then(() => claimCount(accountId, plan));
    return countRequest(account.countWindow, plan, nowMs);
  }

  function usage(accountId: string, plan: Plan): Awaitable<LimitUsage> {
    const nowMs = monotonic();
    const account = find(accountId, plan, nowMs);
    if (account instanceof Promise) return account.then(() => usage(accountId, plan));
    const periods = periodsAt(clock());
    const day = useOf(account, periods[0], true);
    if (day instanceof Promise) return day.then(() => usage(accountId, plan));
    const month = useOf(account, periods[1], true);
    if (month instanceof Promise) return month.then(() => usage(accountId, plan));
    return {
      requestsUsed: account.window.requests,
      tokensUsed: account.window.tokens,
      resetSeconds: resetSeconds(account.window, nowMs),
      inFlight: account.slotsUsed,
      dayTokens: day.tokens,
      monthTokens: month.tokens,
    };
  }

  return {
    left,
    countRefused,
    claim,
    claimCount,
    usage,
    claims: () => claims.list(monotonic()),
  };
}

/** Counts a request without tokens. Returns the seconds to wait if it is refused. */
function countRequest(
  window: RateWindow,
  { requestsPerMinute }: Plan,
  nowMs: number,
): number | undefined {
  if (window.requests >= requestsPerMinute) return resetSeconds(window, nowMs);
  takeFrom(window, 0, nowMs);
  return undefined;
}

/** The counters that a claim uses. */
type Claimed = {
  readonly ofPlan: AccountUse;
  readonly ofModel: ModelUse;
  readonly day: PeriodUse;
  readonly month: PeriodUse;
};

/** Shared by all claims. */
type ClaimHost = {
  readonly claims: OpenClaims<ProcessClaim>;
  readonly monotonic: () => number;
  /** The remaining limits for a request without a claim. */
  readonly viewOf: (request: ClaimRequest) => Awaitable<LimitView>;
};

class ProcessClaim implements Claim {
  readonly view: LimitView;
  leaseUntil: number;
  readonly #host: ClaimHost;
  readonly #request: ClaimRequest;
  readonly #tokens: number;
  readonly #in: Claimed;
  /** Expired windows are replaced, so returning to an old one has no effect. */
  readonly #planWindow: RateWindow;
  readonly #modelWindow: RateWindow;
  #hasEnded = false;
  #isOpen = true;
  #hasSlot = true;

  /** Counts the request everywhere. */
  constructor(host: ClaimHost, request: ClaimRequest, claimed: Claimed, nowMs: number) {
    const { ofPlan, ofModel, day, month } = claimed;
    const tokens = tokensOf(request);
    this.leaseUntil = nowMs + LEASE_MS;
    this.#host = host;
    this.#request = request;
    this.#tokens = tokens;
    this.#in = claimed;
    this.#planWindow = ofPlan.window;
    this.#modelWindow = ofModel.window;
    ofPlan.take(tokens, nowMs);
    ofModel.take(tokens, nowMs);
    day.add(tokens, tokens);
    month.add(tokens, tokens);
    this.view = viewOf(request, claimed, nowMs);
    host.claims.add(this);
  }

  get requestId(): string {
    return this.#request.requestId;
  }

  get accountId(): string {
    return this.#request.accountId;
  }

  get startedAt(): number {
    return this.#request.startedAt;
  }

  get outputBound(): Tokens {
    return this.#request.outputBound;
  }

  freeSlot(): void {
    if (!this.#hasSlot) return;
    this.#hasSlot = false;
    this.#in.ofPlan.freeSlot();
    this.#in.ofModel.freeSlot();
  }

  settle(usedTokens: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#host.claims.remove(this);
    this.#letGo(usedTokens - this.#tokens);
  }

  cancel(keeps?: 'request'): Awaitable<LimitView> {
    if (!this.#hasEnded) {
      this.settle(0);
      giveBack(this.#planWindow, this.#tokens, keeps);
      giveBack(this.#modelWindow, this.#tokens, keeps);
    }
    return this.#host.viewOf(this.#request);
  }

  /** The request is gone. Its actual usage is unknown, so all of it stays counted. */
  lose(): void {
    this.#letGo(0);
  }

  /** Adds the tokens used beyond the claim to the caps. */
  #letGo(more: number): void {
    const { ofPlan, ofModel, day, month } = this.#in;
    const reserved = this.#isOpen ? -this.#tokens : 0;
    this.freeSlot();
    day.add(more, reserved);
    month.add(more, reserved);
    if (this.#isOpen) {
      ofPlan.end();
      ofModel.end();
    }
    this.#isOpen = false;
    ofPlan.touch(this.#host.monotonic());
  }
}
