// The facts about one request as data for the operator: `tollgate explain` and the console. Amounts
// are decimal strings of service tokens, printed from the booked integers.
// `customer-explanation.ts` selects what its customer may see.

import { failureProblem } from '../core/advice.ts';
import { isoTime } from '../core/calendar.ts';
import { FACTOR_DECIMALS, FACTOR_ONE } from '../core/exact.ts';
import type { Usage } from '../core/generation.ts';
import {
  formatDecimal,
  formatTokens,
  formatUsd,
  type Micro,
  PICO_DECIMALS,
  smaller,
  subtract,
} from '../core/money.ts';
import {
  bucketsOf,
  charge,
  factorOf,
  holdAmount,
  type Price,
  tierOf,
  withoutServiceTiers,
} from '../core/price.ts';
import { factorText } from '../core/price-terms.ts';
import { namedDetails } from '../core/usage-details.ts';
import type { RequestHistory } from '../ledger/explain.ts';
import { parseAttempts } from '../ledger/series/attempts.ts';
import { attemptFacts, upstreamCosts } from './attempt-facts.ts';
import type { AttemptWords } from './upstream-words.ts';

type Hold = RequestHistory['hold'];
type UsageRecord = NonNullable<RequestHistory['record']>;

export type Explanation = ReturnType<typeof explanation>;

/** What the books do not store with a request, from the catalog. */
export type Terms = { readonly minimumHold: Micro };

/** `said` are the words of each attempt's upstream, in their order. */
export function explanation(
  history: RequestHistory,
  terms: Terms,
  said: readonly (AttemptWords | null)[] = [],
) {
  const { hold, record } = history;
  const attempts = record === undefined ? [] : parseAttempts(record.attempts);
  return {
    request_id: hold.requestId,
    account_id: hold.accountId,
    key_id: hold.keyId,
    hold: holdFacts(history, terms.minimumHold),
    model: { requested: hold.model, served: record?.modelServed ?? null },
    request: record === undefined ? null : requestFacts(record),
    problem: record === undefined ? null : problemFacts(record),
    usage: record === undefined ? null : usageFacts(record),
    calculations:
      record === undefined || record.modelServed === null
        ? []
        : history.prices.map((row) => calculation(hold, row, record)),
    booked: record === undefined ? null : bookedFacts(history, record),
    receipt: history.receipt ?? null,
    attempts: attempts.map((attempt, index) => attemptFacts(attempt, said[index])),
    /** What the operator pays for all attempts; null where the catalog has no costs. */
    upstream_costs: record === undefined ? null : upstreamCosts(attempts, record.debited),
  } as const;
}

function holdFacts({ hold, prices }: RequestHistory, minimumHold: Micro) {
  const first = firstAmount(hold, prices, minimumHold);
  return {
    phase: hold.phase,
    first_amount: formatTokens(first),
    grown_by: formatTokens(subtract(hold.amount, first)),
    amount: formatTokens(hold.amount),
    estimated_prompt_tokens: hold.promptTokens,
    output_bound: hold.outputBound,
    price_version: hold.priceVersion,
    created_at: isoTime(hold.startedAt),
    /**
     * What the client had received by then, and from where; null before the first content and after
     * the end.
     */
    checkpoint:
      hold.checkpoint === undefined
        ? null
        : {
            at: isoTime(hold.checkpoint.at),
            upstream: hold.checkpoint.upstream,
            model: hold.checkpoint.modelServed,
            output_tokens: hold.checkpoint.outputTokens,
            reasoning_tokens: hold.checkpoint.reasoningTokens,
          },
    ended_at: hold.endedAt === null ? null : isoTime(hold.endedAt),
  } as const;
}

/** Recomputed: the books store the final amount, with every slice that was bought. */
function firstAmount(hold: Hold, prices: RequestHistory['prices'], minimumHold: Micro): Micro {
  const price = prices.find((row) => row.version === hold.priceVersion);
  if (price === undefined) return hold.amount;
  const amountAt = (at: Price) => holdAmount(hold.promptTokens, hold.outputBound, at, minimumHold);
  const first = amountAt(price);
  // It had the factor of a service tier only if an upstream was asked for one.
  return first <= hold.amount ? first : smaller(amountAt(withoutServiceTiers(price)), hold.amount);
}

function requestFacts(record: UsageRecord) {
  return {
    format: record.format,
    stream: record.stream,
    upstream: record.upstream,
    outcome: record.outcome,
    end_user: record.endUser,
    started_at: isoTime(record.startedAt),
    ended_at: isoTime(record.endedAt),
  } as const;
}

function usageFacts(record: UsageRecord) {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = record;
  return {
    /** Null where no model was used, so there is nothing to report. */
    basis: record.modelServed === null ? null : record.usageBasis,
    input_tokens: inputTokens,
    cached_input_tokens: cachedInputTokens,
    cache_write_tokens: cacheWriteTokens,
    output_tokens: outputTokens,
    reasoning_tokens: record.reasoningTokens,
    ...namedDetails(record.details),
    /** What was wrong with the upstream's report. */
    doubt: record.usageDoubt,
    /** The numbers of that report, as the upstream wrote them. */
    reported: record.rawUsage === null ? null : readObject(record.rawUsage),
  } as const;
}

/** What the client of a failed request received; null for all others. */
function problemFacts({ failure }: UsageRecord) {
  return failure === null ? null : { ...failureProblem(failure), cause: failure };
}

type PriceRow = RequestHistory['prices'][number];

/** Usage times price, bucket by bucket, with the total rounded once. */
function calculation(hold: Hold, row: PriceRow, record: UsageRecord) {
  const usage = usageOf(record);
  const { serviceTier, inputTokens } = usage;
  const buckets = bucketsOf(usage, row);
  const tier = tierOf(row, inputTokens);
  const sum = buckets.reduce((total, { tokens, rate }) => total + BigInt(tokens) * rate, 0n);
  const factor = serviceTier === undefined ? undefined : factorOf(row, serviceTier);
  return {
    model: row.model,
    used_for: row.version === hold.priceVersion ? 'requested' : 'served',
    price_version: row.version,
    /** The bound of the tier whose rates apply; absent for the price's own. */
    ...(tier === undefined ? {} : { tier_above_tokens: tier.aboveTokens }),
    buckets: buckets.map(({ name, tokens, rate }) => ({
      name,
      tokens,
      price: formatDecimal(rate, PICO_DECIMALS),
      amount: formatDecimal(BigInt(tokens) * rate, PICO_DECIMALS),
    })),
    /** Multiplies the total; absent for the ordinary service tier. */
    ...(serviceTier === undefined || factor === undefined
      ? {}
      : { service_tier: { name: serviceTier, factor: factorText(factor) } }),
    exact: formatDecimal(sum * BigInt(factor ?? FACTOR_ONE), PICO_DECIMALS + FACTOR_DECIMALS),
    rounded: formatTokens(charge(usage, row)),
  } as const;
}

function usageOf(record: UsageRecord): Usage {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = record;
  const prompt = { inputTokens, cachedInputTokens, cacheWriteTokens };
  const { reasoningTokens, usageBasis: basis, details } = record;
  return { ...prompt, outputTokens, reasoningTokens, basis, ...details };
}

function bookedFacts(history: RequestHistory, record: UsageRecord) {
  return {
    charged: formatTokens(record.charged),
    debited: formatTokens(record.debited),
    debited_usd: formatUsd(record.debited, record.usdPerMillion),
    loss: formatTokens(record.loss),
    balance_after: formatTokens(record.posted),
    entries: history.entries.map((entry) => ({
      transfer_id: `${entry.kind}:${record.requestId}`,
      ledger_account: entry.ledgerAccount,
      amount: formatTokens(entry.amount),
      at: isoTime(entry.at),
    })),
  } as const;
}

function readObject(text: string): object | null {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' ? value : null;
}
