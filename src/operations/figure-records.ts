// What all accounts together use, spend and hold, as records of the console.

import type { ActivityMinute } from '../core/activity.ts';
import { isoTime } from '../core/calendar.ts';
import { formatTokens, formatUsd, type UsdRate } from '../core/money.ts';
import type { ModelFigures } from '../ledger/series/models.ts';
import type { AccountAmount, OldestHold } from '../ledger/totals.ts';

export function figuresRecord(figures: ModelFigures, usdPerMillion: UsdRate) {
  const { debited, upstreamCost, margin, loss } = figures;
  return {
    requests: figures.requests,
    failed: figures.failed,
    input_tokens: figures.inputTokens,
    estimated_input_tokens: figures.estimatedPromptTokens,
    output_tokens: figures.outputTokens,
    spent: formatTokens(debited),
    spent_usd: formatUsd(debited, usdPerMillion),
    cost: formatTokens(upstreamCost),
    cost_usd: formatUsd(upstreamCost, usdPerMillion),
    margin: formatTokens(margin),
    margin_usd: formatUsd(margin, usdPerMillion),
    loss: formatTokens(loss),
    loss_usd: formatUsd(loss, usdPerMillion),
    /** Requests excluded from the margin, because a cost is unknown. */
    uncosted: figures.uncosted,
  } as const;
}

export function amountRecord({ accountId, email, amount }: AccountAmount, usdPerMillion: UsdRate) {
  return {
    account_id: accountId,
    email,
    amount: formatTokens(amount),
    amount_usd: formatUsd(amount, usdPerMillion),
  } as const;
}

export function holdRecord(hold: OldestHold) {
  return {
    request_id: hold.requestId,
    account_id: hold.accountId,
    model: hold.model,
    phase: hold.checkpointAt === null ? 'held' : 'delivering',
    amount: formatTokens(hold.amount),
    created_at: isoTime(hold.startedAt),
  } as const;
}

export function dayTotals(figures: ModelFigures, usdPerMillion: UsdRate) {
  return {
    requests: figures.requests,
    failed: figures.failed,
    input_tokens: figures.inputTokens,
    output_tokens: figures.outputTokens,
    spent: formatTokens(figures.debited),
    spent_usd: formatUsd(figures.debited, usdPerMillion),
  } as const;
}

/** One minute of requests; the last one of a list is still running. */
export function minuteRecord(minute: ActivityMinute) {
  const { at, requests, ok, refused, failed, cancelled, outputTokens } = minute;
  return {
    at: isoTime(at),
    requests,
    succeeded: ok,
    refused,
    failed,
    cancelled,
    output_tokens: outputTokens,
  } as const;
}
