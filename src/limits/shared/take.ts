// Takes everything that one request asks for, in the order in which refusals are told, or nothing.
// Each counter is taken under its own limit in one atomic step; what was taken is given back, last
// first, where a later one refuses. Called by the limits alone.

import type { LimitCode } from '../../core/admit.ts';
import type { ClaimRequest } from '../contract.ts';
import type { Entries, Held } from './entries.ts';
import { type Memory, WINDOW } from './memory.ts';
import { addToPeriod, type SharedPeriod } from './periods.ts';
import { giveBackRequest, giveBackTokens, takeRequest, takeTokens } from './windows.ts';

export type Asked = {
  readonly memory: Memory;
  readonly entries: Entries;
  readonly held: Held;
  readonly request: ClaimRequest;
  /** The day and the month. */
  readonly periods: readonly [SharedPeriod, SharedPeriod];
  readonly tokens: number;
  readonly nowTicks: number;
};

export type Taken = {
  readonly kind: 'taken';
  readonly held: Held;
  readonly periods: Asked['periods'];
  readonly tokens: number;
  /** Of the request that was taken, to whatever window it was counted in. */
  readonly giveBackWindows: (keeps?: 'request') => void;
};

/** `code` is the limit at which somebody else was quicker. */
export type Lost = { readonly kind: 'lost'; readonly code: LimitCode };

type Step = {
  readonly code: LimitCode;
  readonly take: () => boolean;
  readonly giveBack: () => void;
};

export function takeAll(asked: Asked): Taken | Lost {
  const { memory, entries, held, request, periods, tokens, nowTicks } = asked;
  const { plan, incident = {} } = request;
  const ofPlan = windowSteps(memory, held.account + WINDOW, { limits: plan, tokens, nowTicks });
  const ofModel = windowSteps(memory, held.model + WINDOW, { limits: incident, tokens, nowTicks });
  const steps: readonly Step[] = [
    slotStep(entries.accounts, held.account, plan.concurrentRequests),
    slotStep(entries.models, held.model, incident.concurrentRequests),
    ofPlan.request,
    ofModel.request,
    ofPlan.tokens,
    ofModel.tokens,
    // Before they count: what seems to be used up must never be what is only reserved.
    reserveStep(entries.accounts, held.account, periods, tokens),
    periodStep(memory, 'daily_limit_exceeded', periods[0], tokens, plan.dailyTokens),
    periodStep(memory, 'monthly_limit_exceeded', periods[1], tokens, plan.monthlyTokens),
  ];
  for (const [index, step] of steps.entries()) {
    if (step.take()) continue;
    for (const earlier of steps.slice(0, index).reverse()) earlier.giveBack();
    return { kind: 'lost', code: step.code };
  }
  entries.keep(held.account, nowTicks);
  const giveBackWindows = (keeps?: 'request'): void => {
    for (const { tokens: ofTokens, request: ofRequest } of [ofPlan, ofModel]) {
      ofTokens.giveBack();
      if (keeps === undefined) ofRequest.giveBack();
    }
  };
  return { kind: 'taken', held, periods, tokens, giveBackWindows };
}

/**
 * A slot is counted in the cell of this thread, which other threads only read. Whoever counts
 * himself in last sees everybody else, so no two of them believe that the last slot is theirs.
 */
function slotStep(
  table: Entries['accounts'],
  entry: number,
  limit = Number.POSITIVE_INFINITY,
): Step {
  const giveBack = (): void => table.addSlots(entry, -1);
  return {
    code: 'concurrency_limit_exceeded',
    take() {
      table.addSlots(entry, 1);
      if (table.slots(entry) <= limit) return true;
      giveBack();
      return false;
    },
    giveBack,
  };
}

/** The tokens of a request belong to the window in which it was counted. */
function windowSteps(
  memory: Memory,
  at: number,
  options: {
    readonly limits: ClaimRequest['plan'] | NonNullable<ClaimRequest['incident']>;
    readonly tokens: number;
    readonly nowTicks: number;
  },
): { readonly request: Step; readonly tokens: Step } {
  const { limits, tokens, nowTicks } = options;
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = limits;
  let startedAt = 0;
  return {
    request: {
      code: 'rate_limit_exceeded',
      take() {
        const taken = takeRequest(memory, at, requestsPerMinute, nowTicks);
        startedAt = taken ?? 0;
        return taken !== undefined;
      },
      giveBack: () => giveBackRequest(memory, at, startedAt),
    },
    tokens: {
      code: 'tokens_per_minute_exceeded',
      take: () => takeTokens(memory, at, { startedAt, tokens, limit: tokensPerMinute }),
      giveBack: () => giveBackTokens(memory, at, startedAt, tokens),
    },
  };
}

function reserveStep(
  table: Entries['accounts'],
  entry: number,
  periods: readonly SharedPeriod[],
  tokens: number,
): Step {
  const add = (sign: number): void => {
    for (const { slot } of periods) table.addReserved(entry, slot, sign * tokens);
  };
  return {
    code: 'concurrency_limit_exceeded',
    take() {
      add(1);
      return true;
    },
    giveBack: () => add(-1),
  };
}

function periodStep(
  memory: Memory,
  code: LimitCode,
  period: SharedPeriod,
  tokens: number,
  cap: number | undefined,
): Step {
  return {
    code,
    take: () => addToPeriod(memory, period, tokens, cap),
    giveBack: () => void addToPeriod(memory, period, -tokens),
  };
}
