// Tracks what accounts use: windows, slots, days and months, in total and per model. It makes no
// decisions; limits.ts does. An account is evicted only when nothing of it counts any more, or the
// ledger has it.

import type { Plan } from '../core/plan.ts';
import {
  createWindow,
  type RateWindow,
  resumeWindow,
  rollWindow,
  takeFrom,
  WINDOW_MS,
} from '../core/window.ts';
import type { Past } from './admission-history.ts';
import { PERIODS_KEPT, type Period, PeriodUse } from './periods.ts';
import type { InUse } from './scope.ts';

/** How long an unused entry is kept: by then its windows are over and the ledger has the rest. */
const KEEP_MS = WINDOW_MS;

/**
 * Idle accounts are evicted whenever their number has doubled since the last sweep, and
 * periodically.
 */
const LOOK_FROM = 256;
const LOOK_MS = 10 * KEEP_MS;

/** One account's usage of a model. */
export class ModelUse implements InUse {
  window: RateWindow;
  #slotsUsed = 0;
  #openClaims = 0;
  #keptUntil = 0;

  constructor(window: RateWindow) {
    this.window = window;
  }

  /** Advances the window to `nowMs` and marks it as used. */
  touch(nowMs: number): void {
    this.window = rollWindow(this.window, nowMs);
    this.#keptUntil = nowMs + KEEP_MS;
  }

  get slotsUsed(): number {
    return this.#slotsUsed;
  }

  /** Counts a claim. */
  take(tokens: number, nowMs: number): void {
    takeFrom(this.window, tokens, nowMs);
    this.#slotsUsed += 1;
    this.#openClaims += 1;
  }

  freeSlot(): void {
    this.#slotsUsed -= 1;
  }

  /** Ends a claim that has already freed its slot. */
  end(): void {
    this.#openClaims -= 1;
  }

  isIdle(nowMs: number): boolean {
    return this.#openClaims === 0 && this.#keptUntil <= nowMs;
  }
}

/** One account's usage of its plan. */
export class AccountUse extends ModelUse {
  readonly id: string;
  /** For count_tokens, whose requests are counted separately. */
  countWindow = createWindow();
  readonly #models = new Map<string, ModelUse>();
  readonly #periods = new Array<PeriodUse | undefined>(PERIODS_KEPT);

  /** `past` was admitted before this process started. */
  constructor(id: string, past: Past, plan: Plan, nowMs: number) {
    super(resumeWindow(past, plan));
    this.id = id;
    for (const [model, ofModel] of Map.groupBy(past, (each) => each.model)) {
      const use = new ModelUse(resumeWindow(ofModel, {}));
      use.touch(nowMs);
      this.#models.set(model, use);
    }
  }

  override touch(nowMs: number): void {
    super.touch(nowMs);
    this.countWindow = rollWindow(this.countWindow, nowMs);
  }

  /** Counted for every model, because limits may be set while requests run. */
  modelOf(slug: string, nowMs: number): ModelUse {
    const model = this.#models.get(slug) ?? this.#addModel(slug, nowMs);
    model.touch(nowMs);
    return model;
  }

  #addModel(slug: string, nowMs: number): ModelUse {
    forgetIdle(this.#models, nowMs);
    const model = new ModelUse(createWindow());
    this.#models.set(slug, model);
    return model;
  }

  /** Undefined if the mark of the ledger has not been read. */
  periodOf(period: Period): PeriodUse | undefined {
    const use = this.#periods[period.place];
    return use?.untilMs === period.untilMs ? use : undefined;
  }

  /** Starts counting a period from a mark of the ledger. */
  begin(period: Period, mark: number): void {
    if (this.periodOf(period) !== undefined) return;
    this.#periods[period.place] = new PeriodUse(period.untilMs, mark);
  }
}

/** All active accounts, and idle ones until the next sweep. */
export class AccountUses {
  readonly #pastOf: (accountId: string, nowMs: number) => Past;
  readonly #accounts = new Map<string, AccountUse>();
  #lookAt = LOOK_FROM;
  #lookAtMs = -Infinity;

  constructor(pastOf: (accountId: string, nowMs: number) => Past) {
    this.#pastOf = pastOf;
  }

  /** The account's usage at an instant. */
  find(accountId: string, plan: Plan, nowMs: number): AccountUse {
    const account = this.#accounts.get(accountId) ?? this.#add(accountId, plan, nowMs);
    account.touch(nowMs);
    return account;
  }

  #add(accountId: string, plan: Plan, nowMs: number): AccountUse {
    if (this.#accounts.size >= this.#lookAt || nowMs >= this.#lookAtMs) {
      forgetIdle(this.#accounts, nowMs);
      this.#lookAt = Math.max(LOOK_FROM, 2 * this.#accounts.size);
      this.#lookAtMs = nowMs + LOOK_MS;
    }
    const account = new AccountUse(accountId, this.#pastOf(accountId, nowMs), plan, nowMs);
    this.#accounts.set(accountId, account);
    return account;
  }

  /** The number of accounts in memory. */
  get size(): number {
    return this.#accounts.size;
  }
}

function forgetIdle(uses: Map<string, ModelUse>, nowMs: number): void {
  for (const [name, use] of uses) if (use.isIdle(nowMs)) uses.delete(name);
}
