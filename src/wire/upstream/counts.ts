// Accepts the token counts of a report only if they are consistent. The customer is charged for the
// result. A contradictory report is never corrected: it is rejected with the reason. Shared by the
// dialects whose prompt count includes what was cached.

import type { JsonValue, Usage } from '../../core/generation.ts';
import { TOKEN_COUNT_MAX } from './limits.ts';
import { toCount } from './narrow.ts';

export type Doubt = 'malformed' | 'inconsistent';

/** A count as it was reported; undefined if it was not. */
type Count = JsonValue | undefined;

export type Counts = {
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
  /** The part of `cached` that an explicit mark made. */
  readonly explicit?: number;
  /** The part of `written` that lives for an hour or longer. */
  readonly long: number;
  readonly completion: number;
  readonly reasoning: number;
  /** Undefined if the upstream reports no total. */
  readonly total: number | undefined;
};

/**
 * One count with several names; 0 if all are absent. A zero beside a number is a placeholder for an
 * unused name; two different numbers contradict each other.
 */
export function readPart(
  first: Count,
  second?: Count,
  third?: Count,
  fourth?: Count,
): number | Doubt {
  return withSpelling(withSpelling(withSpelling(withSpelling(0, first), second), third), fourth);
}

function withSpelling(found: number | Doubt, spelling: Count): number | Doubt {
  if (typeof found === 'string' || isMissing(spelling)) return found;
  const count = toCount(spelling);
  if (count === undefined) return 'malformed';
  if (found !== 0 && count !== 0 && count !== found) return 'inconsistent';
  return count === 0 ? found : count;
}

/**
 * Parts may be included in their wholes or not, and only the total shows which. Without a total
 * they are included, as the format defines. Undefined if no interpretation matches the total.
 */
export function reconcile(counts: Counts): Usage | undefined {
  const { prompt, cached, written, completion, reasoning, total } = counts;
  const sum = prompt + completion;
  if (total === undefined || total === sum) return usageOf(counts, prompt, completion, reasoning);
  // xAI reports reasoning in addition to the completion.
  if (total === sum + reasoning) return usageOf(counts, prompt, completion + reasoning, reasoning);
  // Gateways to Messages upstreams, such as Portkey, report the cache in addition to the prompt.
  const whole = prompt + cached + written;
  if (total === whole + completion) return usageOf(counts, whole, completion, reasoning);
  // Gemini includes its thinking only in the total.
  const hidden = total - sum;
  if (hidden > 0 && reasoning === 0) return usageOf(counts, prompt, completion + hidden, hidden);
  return undefined;
}

function usageOf(
  { cached, written, explicit = 0, long }: Counts,
  inputTokens: number,
  outputTokens: number,
  reasoningTokens: number,
): Usage | undefined {
  if (cached + written > inputTokens || reasoningTokens > outputTokens) return undefined;
  if (inputTokens > TOKEN_COUNT_MAX || outputTokens > TOKEN_COUNT_MAX) return undefined;
  return {
    inputTokens,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    outputTokens,
    reasoningTokens,
    basis: 'reported',
    ...(explicit > 0 && { cachedExplicitTokens: explicit }),
    ...(long > 0 && { cacheWriteLongTokens: long }),
  };
}

export function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}
