// The explanation of one request for its customer: what was estimated, held, used and charged, and
// why. It contains no upstream, no operator cost, and of the attempts only their number. Fields are
// picked by name, so new ones stay hidden.

import type { RequestProblem } from '../core/advice.ts';
import type { RequestHistory } from '../ledger/explain.ts';
import { type Explanation, explanation, type Terms } from './explanation.ts';

export type CustomerExplanation = ReturnType<typeof customerExplanation>;

export function customerExplanation(history: RequestHistory, terms: Terms) {
  const facts = explanation(history, terms);
  const { hold, request, problem, usage, booked } = facts;
  return {
    request_id: facts.request_id,
    key_id: facts.key_id,
    model: facts.model,
    /** Whether another model than the requested one has answered. */
    fallback_used: facts.model.served !== null && facts.model.served !== facts.model.requested,
    /** The number of upstream attempts, the last one included. */
    attempts: facts.attempts.filter(({ failure }) => failure !== 'no_capacity').length,
    hold: {
      phase: hold.phase,
      estimated_prompt_tokens: hold.estimated_prompt_tokens,
      output_bound: hold.output_bound,
      first_amount: hold.first_amount,
      grown_by: hold.grown_by,
      amount: hold.amount,
      price_version: hold.price_version,
      created_at: hold.created_at,
      ended_at: hold.ended_at,
    },
    request:
      request === null
        ? null
        : {
            format: request.format,
            stream: request.stream,
            outcome: request.outcome,
            end_user: request.end_user,
            started_at: request.started_at,
            ended_at: request.ended_at,
            first_content_ms: firstContentMs(facts),
          },
    problem: problem === null ? null : problemOf(problem),
    usage:
      usage === null
        ? null
        : {
            basis: usage.basis,
            input_tokens: usage.input_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            ...detailsOf(usage),
            /** Why the reported usage was not charged as it is. */
            doubt: usage.doubt,
          },
    calculations: facts.calculations,
    booked:
      booked === null
        ? null
        : {
            charged: booked.charged,
            debited: booked.debited,
            debited_usd: booked.debited_usd,
            /** What the balance could not pay; it is not collected later. */
            waived: booked.loss,
            balance_after: booked.balance_after,
          },
    receipt: facts.receipt,
  } as const;
}

/** The details that the receipt states too. */
function detailsOf(usage: NonNullable<Explanation['usage']>) {
  const { cached_explicit_tokens: explicit, cache_write_long_tokens: long, service_tier } = usage;
  const { estimate } = usage;
  return {
    ...(estimate === undefined ? {} : { estimate }),
    ...(explicit === undefined ? {} : { cached_explicit_tokens: explicit }),
    ...(long === undefined ? {} : { cache_write_long_tokens: long }),
    ...(service_tier === undefined ? {} : { service_tier }),
  };
}

/** Without its cause, which is the operator's. */
function problemOf({ status, code, reason, message, what_to_do }: RequestProblem): RequestProblem {
  return { status, code, reason, message, what_to_do };
}

/** From the start of the request, failed attempts included. */
function firstContentMs({ request, attempts }: Explanation): number | null {
  const served = attempts.findLast(({ failure }) => failure === null) ?? attempts.at(-1);
  if (request === null || served?.started_at == null || served.first_content_ms === null) {
    return null;
  }
  const waitedMs = Date.parse(served.started_at) - Date.parse(request.started_at);
  return Math.max(0, Math.round(waitedMs + served.first_content_ms));
}
