// What accounts have in use: windows, slots, days and months, and the windows and slots of each model
// that an account uses. Nothing here decides: limits.ts does. An account is forgotten only when nothing
// of it counts any more, or the books have it.

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

/** How long something is kept after its last use: windows are over, and the books have it all. */
const KEEP_MS = WINDOW_MS;

/** Idle accounts are looked for when there are twice as many as after the last look, and so often. */
const LOOK_FROM = 256;
const LOOK_MS = 10 * KEEP_MS;

/** What is used of a model by one account. */
export class ModelUse implements InUse {
  window: RateWindow;
  #slotsUsed = 0;
  #openClaims = 0;
  #keptUntil = 0;

  constructor(window: RateWindow) {
    this.window = window;
  }

  /** Brings the window up to an instant, at which it is used. */
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

  /** A claim that has no slot any more ends. */
  end(): void {
    this.#openClaims -= 1;
  }

  isIdle(nowMs: number): boolean {
    return this.#openClaims === 0 && this.#keptUntil <= nowMs;
  }
}

/** What an account uses of its plan. */
export class AccountUse extends ModelUse {
  readonly id: string;
  /** Of count_tokens, whose requests are counted apart. */
  countWindow = createWindow();
  readonly #models = new Map<string, ModelUse>();
  readonly #periods = new Array<PeriodUse | undefined>(PERIODS_KEPT);

  /** `past` is what was admitted before these limits began. */
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

  /** Counted of every model, with limits or without: they are set while requests run. */
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

  /** Undefined where the books have not been asked for their mark. */
  periodOf(period: Period): PeriodUse | undefined {
    const use = this.#periods[period.place];
    return use?.untilMs === period.untilMs ? use : undefined;
  }

  /** Counts a period from a mark of the books on. */
  begin(period: Period, mark: number): void {
    if (this.periodOf(period) !== undefined) return;
    this.#periods[period.place] = new PeriodUse(period.untilMs, mark);
  }
}

/** All accounts that are in use, and idle ones until the next look. */
export class AccountUses {
  readonly #pastOf: (accountId: string, nowMs: number) => Past;
  readonly #accounts = new Map<string, AccountUse>();
  #lookAt = LOOK_FROM;
  #lookAtMs = -Infinity;

  constructor(pastOf: (accountId: string, nowMs: number) => Past) {
    this.#pastOf = pastOf;
  }

  /** As it is at an instant. */
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

  /** How many are remembered. */
  get size(): number {
    return this.#accounts.size;
  }
}

function forgetIdle(uses: Map<string, ModelUse>, nowMs: number): void {
  for (const [name, use] of uses) if (use.isIdle(nowMs)) uses.delete(name);
}
