// The facts about one request as data for the operator: `tollgate explain` and the console. Amounts
// are decimal strings of service tokens, printed from the booked integers.
// `customer-explanation.ts` selects what its customer may see.

import { failureProblem } from '../core/advice.ts';
import { isoTime } from '../core/calendar.ts';
import {
  formatDecimal,
  formatTokens,
  formatUsd,
  type Micro,
  PICO_DECIMALS,
  smaller,
  subtract,
  type UsdRate,
} from '../core/money.ts';
import { charge, holdAmount, type Price } from '../core/price.ts';
import type { RequestHistory } from '../ledger/explain.ts';
import { parseAttempts } from '../ledger/series/attempts.ts';
import { attemptFacts, upstreamCosts } from './attempt-facts.ts';

type Hold = RequestHistory['hold'];
type UsageRecord = NonNullable<RequestHistory['record']>;

export type Explanation = ReturnType<typeof explanation>;

/** Catalog values that the books do not store with a request. */
export type Terms = { readonly usdPerMillion: UsdRate; readonly minimumHold: Micro };

export function explanation(history: RequestHistory, terms: Terms) {
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
    booked: record === undefined ? null : bookedFacts(history, record, terms.usdPerMillion),
    receipt: history.receipt ?? null,
    attempts: attempts.map(attemptFacts),
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
  const first = holdAmount(hold.promptTokens, hold.outputBound, price, minimumHold);
  return smaller(first, hold.amount);
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
  const price: Price = row;
  const buckets = [
    ['input', record.inputTokens - record.cachedInputTokens - record.cacheWriteTokens, price.input],
    ['cached_input', record.cachedInputTokens, price.cachedInput],
    ['cache_write', record.cacheWriteTokens, price.cacheWrite],
    ['output', record.outputTokens, price.output],
  ] as const;
  const exact = buckets.reduce((sum, [, tokens, each]) => sum + BigInt(tokens) * each, 0n);
  const { usageBasis: basis, inputTokens, cachedInputTokens, cacheWriteTokens } = record;
  const { outputTokens, reasoningTokens } = record;
  const prompt = { inputTokens, cachedInputTokens, cacheWriteTokens };
  return {
    model: row.model,
    used_for: row.version === hold.priceVersion ? 'requested' : 'served',
    price_version: row.version,
    buckets: buckets.map(([name, tokens, each]) => ({
      name,
      tokens,
      price: formatDecimal(each, PICO_DECIMALS),
      amount: formatDecimal(BigInt(tokens) * each, PICO_DECIMALS),
    })),
    exact: formatDecimal(exact, PICO_DECIMALS),
    rounded: formatTokens(charge({ ...prompt, outputTokens, reasoningTokens, basis }, price)),
  } as const;
}

function bookedFacts(history: RequestHistory, record: UsageRecord, usdPerMillion: UsdRate) {
  return {
    charged: formatTokens(record.charged),
    debited: formatTokens(record.debited),
    debited_usd: formatUsd(record.debited, usdPerMillion),
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
