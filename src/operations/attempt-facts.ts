// The attempts of a request and what they cost the operator, read from the JSON of a usage record.
// Called by `explanation.ts`. Records of older programs have fewer members: what a record lacks is
// null here, and nothing is made up.

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

export type AttemptFacts = {
  readonly upstream: string | null;
  readonly model: string | null;
  /** What the upstream calls it. */
  readonly upstream_model: string | null;
  /** The place of the credential in the catalog; null where the upstream was not asked. */
  readonly credential: string | null;
  readonly started_at: string | null;
  readonly duration_ms: number | null;
  /** From the start. */
  readonly first_byte_ms: number | null;
  readonly first_content_ms: number | null;
  /** Null where it served, as are the next three. */
  readonly failure: string | null;
  readonly phase: string | null;
  readonly status: number | null;
  readonly detail: string | null;
  readonly usage: AttemptUsage | null;
  /** In service tokens. */
  readonly cost: string | null;
};

type AttemptUsage = {
  /** `reported` by the upstream, or our own count where it reported nothing. */
  readonly basis: string | null;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
};

/** What all attempts cost, and what is left of the charge. `margin` is null where a cost is missing. */
export type UpstreamCosts = {
  readonly total: string;
  readonly complete: boolean;
  readonly margin: string | null;
};

type Json = Readonly<Record<string, unknown>>;

export function readAttempts(text: string): readonly AttemptFacts[] {
  const attempts: unknown = JSON.parse(text);
  return Array.isArray(attempts) ? attempts.filter(isRecord).map(attemptFacts) : [];
}

/** Null where the catalog had no cost for any of them. */
export function upstreamCosts(
  attempts: readonly AttemptFacts[],
  debited: Micro,
): UpstreamCosts | null {
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
    margin: complete ? formatTokens(subtract(debited, total)) : null,
  };
}

function attemptFacts(record: Json): AttemptFacts {
  const startedAt = numberOf(record['startedAt']);
  const endedAt = numberOf(record['endedAt']);
  return {
    upstream: textOf(record['upstream']),
    model: textOf(record['model']),
    upstream_model: textOf(record['upstreamModel']),
    credential: textOf(record['credential']),
    started_at: startedAt === null ? null : isoTime(startedAt),
    duration_ms: startedAt === null || endedAt === null ? null : endedAt - startedAt,
    first_byte_ms: numberOf(record['firstByteMs']),
    first_content_ms: numberOf(record['firstContentMs']),
    failure: textOf(record['failure']),
    phase: textOf(record['phase']),
    status: numberOf(record['status']),
    detail: textOf(record['detail']),
    usage: usageFacts(record['usage']),
    cost: textOf(record['cost']),
  };
}

function usageFacts(usage: unknown): AttemptUsage | null {
  if (!isRecord(usage)) return null;
  return {
    basis: textOf(usage['basis']),
    input_tokens: numberOf(usage['inputTokens']) ?? 0,
    cached_input_tokens: numberOf(usage['cachedInputTokens']) ?? 0,
    cache_write_tokens: numberOf(usage['cacheWriteTokens']) ?? 0,
    output_tokens: numberOf(usage['outputTokens']) ?? 0,
    reasoning_tokens: numberOf(usage['reasoningTokens']) ?? 0,
  };
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
