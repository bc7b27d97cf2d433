// The attempts of a request and what they cost the operator, from its usage record. Called by
// `explanation.ts`. Records of older versions have fewer members: missing ones are null here.

import { isoTime } from '../core/calendar.ts';
import { formatTokens, type Micro } from '../core/money.ts';
import { namedDetails } from '../core/usage-details.ts';
import type { BookedAttempt } from '../ledger/series/attempts.ts';
import { costFigures } from '../ledger/series/costs.ts';
import type { AttemptWords } from './upstream-words.ts';

export type AttemptFacts = ReturnType<typeof attemptFacts>;

export type UpstreamCosts = NonNullable<ReturnType<typeof upstreamCosts>>;

/** The cost of all attempts, and the margin. Null where the catalog had no cost for any. */
export function upstreamCosts(attempts: readonly BookedAttempt[], debited: Micro) {
  if (attempts.every(({ cost }) => cost === undefined)) return null;
  const { upstreamCost, margin, uncosted } = costFigures(debited, attempts);
  const complete = uncosted === 0;
  return {
    total: formatTokens(upstreamCost),
    complete,
    /** Null where a cost is missing. */
    margin: complete ? formatTokens(margin) : null,
  } as const;
}

export function attemptFacts(attempt: BookedAttempt, said: AttemptWords | null = null) {
  const { startedAt, endedAt, usage } = attempt;
  return {
    upstream: attempt.upstream ?? null,
    model: attempt.model ?? null,
    /** The upstream's own name for the model. */
    upstream_model: attempt.upstreamModel ?? null,
    /** The index of the credential in the catalog; null where the upstream was not reached. */
    credential: attempt.credential ?? null,
    started_at: startedAt === undefined ? null : isoTime(startedAt),
    duration_ms: startedAt === undefined || endedAt === undefined ? null : endedAt - startedAt,
    /** From the start. */
    first_byte_ms: attempt.firstByteMs ?? null,
    first_content_ms: attempt.firstContentMs ?? null,
    /** Null where it served; so are the next three. */
    failure: attempt.failure ?? null,
    phase: attempt.phase ?? null,
    status: attempt.status ?? null,
    detail: attempt.detail ?? null,
    /** What the upstream said, without the caller's words; null where nothing is known of it. */
    said,
    usage: usage ? usageFacts(usage) : null,
    /** In service tokens. */
    cost: attempt.cost ?? null,
    /** What the upstream itself says that it charges, in USD; only where it does. */
    ...(attempt.reportedCostUsd === undefined
      ? {}
      : { reported_cost_usd: attempt.reportedCostUsd }),
  } as const;
}

function usageFacts(usage: NonNullable<BookedAttempt['usage']>) {
  return {
    /** `reported` by the upstream, or our own count where it reported nothing. */
    basis: usage.basis ?? null,
    input_tokens: usage.inputTokens ?? 0,
    cached_input_tokens: usage.cachedInputTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    reasoning_tokens: usage.reasoningTokens ?? 0,
    ...namedDetails(usage),
  } as const;
}
