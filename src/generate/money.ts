// The amounts that a request reserves, the output that they buy, and the error that its client gets
// if the ledger refuses them. Pure.

import { CONCURRENCY_RETRY_SECONDS } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import { isReadOn, mayHideThinking } from '../core/hidden.ts';
import { BUDGET_ENDS } from '../core/key-budget.ts';
import type { Learned } from '../core/learned.ts';
import type { Catalog, Model } from '../core/model.ts';
import {
  add,
  formatTokens,
  larger,
  type Micro,
  smaller,
  subtract,
  type Tokens,
  ZERO,
} from '../core/money.ts';
import type { LimitView } from '../core/plan.ts';
import {
  affordableOutput,
  coverAmount,
  hiddenOutput,
  holdAmount,
  type Price,
  promptExcess,
  SLICE_TOKENS,
  withoutServiceTiers,
} from '../core/price.ts';
import type { BudgetRoom, HoldResult } from '../ledger/contract.ts';
import type { CheckedRequest } from './pipeline-types.ts';

/** Characters of output that may be made before the balance is asked for them. */
const HELD_BACK_MAX = 1_024;

export type Money = {
  /** The amount to reserve. */
  readonly amount: Micro;
  /**
   * The most that the request may cost beyond its estimate: for a longer prompt, and for a service
   * tier that an upstream applies without being asked for it.
   */
  readonly excess: Micro;
  /** The most that output may cost which no slice of the balance stops. */
  readonly hidden: Micro;
  /** The multiple of our count up to which the prompt is reserved, and charged. */
  readonly promptFactor: number;
  /** The price of the hold: without service tiers where no upstream is asked for one. */
  readonly price: Price;
};

export function moneyFor(checked: CheckedRequest, learned: Pick<Learned, 'reserveFactor'>): Money {
  const { catalog, model, promptTokens, outputBound, request, facts } = checked;
  let factor = learned.reserveFactor(model.slug, facts.accountId);
  let widest = model.contextWindow;
  // Only a price with such factors has to know.
  const isOrdinary = checked.price.terms?.serviceTiers === undefined;
  let asks = isOrdinary || asksForTier(model);
  let hides = hidesAnywhere(catalog, model) || request.stop.some(mayHoldBack);
  for (const slug of model.fallbacks) {
    const fallback = catalog.resolve(slug);
    if (fallback === undefined) continue;
    widest = Math.max(widest, fallback.contextWindow);
    factor = Math.max(factor, learned.reserveFactor(slug, facts.accountId));
    hides ||= hidesAnywhere(catalog, fallback);
    asks ||= asksForTier(fallback);
  }
  const price = asks ? checked.price : withoutServiceTiers(checked.price);
  return {
    amount: holdAmount(promptTokens, outputBound, price, catalog.minimumHold),
    excess: add(
      promptExcess(promptTokens, outputBound, widest, checked.price, factor),
      price === checked.price ? ZERO : unaskedTier(checked, price),
    ),
    hidden: hides ? hiddenOutput(promptTokens, outputBound, price) : ZERO,
    promptFactor: factor,
    price,
  };
}

/** Members of a request that select a service tier. Only `extra_body` of a profile sets them. */
const TIER_MEMBERS = ['service_tier', 'speed'];

/** Whether any upstream of the model is asked for another service tier than its ordinary one. */
function asksForTier({ servedBy }: Model): boolean {
  return servedBy.some(({ profile }) => {
    return TIER_MEMBERS.some((name) => Object.hasOwn(profile.extraBody, name));
  });
}

/** What the dearest service tier costs beyond the ordinary one, for the whole request. */
function unaskedTier({ promptTokens, outputBound, price }: CheckedRequest, ordinary: Price): Micro {
  const dearest = coverAmount(promptTokens, outputBound, price);
  return subtract(dearest, coverAmount(promptTokens, outputBound, ordinary));
}

/** Lowers a bound above the first slice to what the account can pay. */
export function boundByBalance(
  { outputBound, promptTokens }: CheckedRequest,
  { price }: Money,
  payable: Micro,
): Tokens {
  if (outputBound <= SLICE_TOKENS) return outputBound;
  return smaller(outputBound, larger(SLICE_TOKENS, affordableOutput(payable, promptTokens, price)));
}

/** Whether any upstream of the model may make output that no slice of the balance stops. */
function hidesAnywhere(catalog: Catalog, model: Model): boolean {
  return model.servedBy.some(({ upstream: id, profile }) => {
    const upstream = catalog.upstreams.get(id);
    if (upstream === undefined) return false;
    return mayHideThinking({ model, profile }) || isReadOn({ model, upstream, profile });
  });
}

/** Where we cut, text that may begin the sequence is held back, and bought when it is released. */
function mayHoldBack(stop: string): boolean {
  return stop.length > HELD_BACK_MAX;
}

/** Whether to retry the hold: each request of the account that ends frees room for worst cases. */
export function mayWait({ uncovered, budget }: HoldResult, money: Money): boolean {
  if (budget !== undefined && 'room' in budget) return isReserved(budget, money);
  return uncovered !== undefined && uncovered.openHolds > 0;
}

/** Whether the budget would cover the request without what other requests reserve of it. */
function isReserved({ rest, openHolds }: BudgetRoom, { amount, excess }: Money): boolean {
  return openHolds > 0 && rest >= add(amount, excess);
}

export function refusedHold(
  { available, uncovered, budget }: HoldResult,
  money: Money,
  limits: LimitView,
): GatewayError {
  if (budget !== undefined && 'room' in budget) return refusedBudget(budget, money, limits);
  const { amount, excess, hidden } = money;
  const has = `The available balance is ${formatTokens(available)} service tokens`;
  if (uncovered === undefined) {
    return new GatewayError('insufficient_balance', {
      message: `${has}, and this request has to reserve ${formatTokens(amount)}. Top up the account, or lower max_tokens.`,
      limits,
    });
  }
  const left = subtract(available, amount);
  const worst = formatTokens(add(add(amount, excess), smaller(hidden, left)));
  if (uncovered.openHolds === 0) {
    return new GatewayError('insufficient_balance', {
      message: `${has}, and this request may cost up to ${worst}. Earlier charges exceeded the balance of this account, so the balance has to cover that. Top up the account, or send less.`,
      limits,
    });
  }
  return new GatewayError('concurrency_limit_exceeded', {
    message: `The balance does not cover what this request (up to ${worst} service tokens) and the ${uncovered.openHolds} requests in flight may cost together. Retry when one of them has ended, or top up the account.`,
    retryAfterSeconds: CONCURRENCY_RETRY_SECONDS,
    limits,
  });
}

/** `final` may be a hold that no longer covers hidden output; a retry gets what there is. */
export function revokedHold(final: HoldResult, money: Money, limits: LimitView): GatewayError {
  if (!final.ok) return refusedHold(final, money, limits);
  const { available, budget } = final;
  if (budget !== undefined && 'left' in budget && budget.left < available) {
    return reservedBudget(1, money, limits);
  }
  return refusedHold({ ...final, uncovered: { room: available, openHolds: 1 } }, money, limits);
}

/** A budget covers the most that a request can cost, because it is never exceeded. */
function refusedBudget(budget: BudgetRoom, money: Money, limits: LimitView): GatewayError {
  const { period, rest, openHolds } = budget;
  if (isReserved(budget, money)) return reservedBudget(openHolds, money, limits);
  return new GatewayError('key_budget_exhausted', {
    message: `This API key has ${formatTokens(larger(rest, ZERO))} service tokens left of its ${BUDGET_ENDS[period]}, and this request may cost up to ${worstOf(money)}. Raise the budget on the dashboard, send less, or use another key.`,
    limits,
  });
}

function reservedBudget(openHolds: number, money: Money, limits: LimitView): GatewayError {
  return new GatewayError('concurrency_limit_exceeded', {
    message: `The budget of this API key does not cover what this request (up to ${worstOf(money)} service tokens) and the ${openHolds} requests in flight may cost together. Retry when one of them has ended, set a lower max_tokens, or raise the budget.`,
    retryAfterSeconds: CONCURRENCY_RETRY_SECONDS,
    limits,
  });
}

const worstOf = ({ amount, excess }: Money): string => formatTokens(add(amount, excess));
