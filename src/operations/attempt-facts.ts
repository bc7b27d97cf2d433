// Reads the attempts of a request and what they cost the operator from the JSON of a usage record.
// Called by `explanation.ts`. Records of older versions have fewer members: missing ones are null
// here.

import { isoTime } from '../core/calendar.ts';
import {
  add,
  formatTokens,
  MICRO_DECIMALS,
  type Micro,
  micro,
  parseDecimal,
  subtract,
} from '../core/money.ts';

export type AttemptFacts = ReturnType<typeof attemptFacts>;

export type UpstreamCosts = NonNullable<ReturnType<typeof upstreamCosts>>;

type Json = Readonly<Record<string, unknown>>;

export function readAttempts(text: string): readonly AttemptFacts[] {
  const attempts: unknown = JSON.parse(text);
  return Array.isArray(attempts) ? attempts.filter(isRecord).map(attemptFacts) : [];
}

/** The cost of all attempts, and the margin. Null where the catalog had no cost for any. */
export function upstreamCosts(attempts: readonly AttemptFacts[], debited: Micro) {
  const costs = attempts.flatMap(({ cost }) => {
    const amount = cost === null ? undefined : parseDecimal(cost, MICRO_DECIMALS);
    return amount === undefined ? [] : [micro(amount)];
  });
  if (costs.length === 0) return null;
  const total = costs.reduce(add);
  const complete = attempts.every(({ usage, cost }) => usage === null || cost !== null);
  return {
    total: formatTokens(total),
    complete,
    /** Null where a cost is missing. */
    margin: complete ? formatTokens(subtract(debited, total)) : null,
  } as const;
}

function attemptFacts(record: Json) {
  const startedAt = numberOf(record['startedAt']);
  const endedAt = numberOf(record['endedAt']);
  return {
    upstream: textOf(record['upstream']),
    model: textOf(record['model']),
    /** The upstream's own name for the model. */
    upstream_model: textOf(record['upstreamModel']),
    /** The index of the credential in the catalog; null where the upstream was not reached. */
    credential: textOf(record['credential']),
    started_at: startedAt === null ? null : isoTime(startedAt),
    duration_ms: startedAt === null || endedAt === null ? null : endedAt - startedAt,
    /** From the start. */
    first_byte_ms: numberOf(record['firstByteMs']),
    first_content_ms: numberOf(record['firstContentMs']),
    /** Null where it served; so are the next three. */
    failure: textOf(record['failure']),
    phase: textOf(record['phase']),
    status: numberOf(record['status']),
    detail: textOf(record['detail']),
    usage: usageFacts(record['usage']),
    /** In service tokens. */
    cost: textOf(record['cost']),
  } as const;
}

function usageFacts(usage: unknown) {
  if (!isRecord(usage)) return null;
  return {
    /** `reported` by the upstream, or our own count where it reported nothing. */
    basis: textOf(usage['basis']),
    input_tokens: numberOf(usage['inputTokens']) ?? 0,
    cached_input_tokens: numberOf(usage['cachedInputTokens']) ?? 0,
    cache_write_tokens: numberOf(usage['cacheWriteTokens']) ?? 0,
    output_tokens: numberOf(usage['outputTokens']) ?? 0,
    reasoning_tokens: numberOf(usage['reasoningTokens']) ?? 0,
  } as const;
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
