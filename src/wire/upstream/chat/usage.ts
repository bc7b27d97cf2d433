// The token counts that an upstream reports, believed only as far as they make sense. Called for
// every chunk and every whole answer; what is returned here is what the customer pays for.

import type { Usage } from '../../../core/generation.ts';
import { TOKEN_COUNT_MAX } from '../limits.ts';
import { isRecord, toRecord } from '../narrow.ts';

/**
 * Reads a `usage` object. Undefined when it is missing or when a count is not an integer between 0
 * and 10⁹: the gateway's own count is used then. Counts in chat completions include their parts:
 * the cached tokens lie within the prompt, the reasoning within the completion.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const inputTokens = value['prompt_tokens'];
  const outputTokens = value['completion_tokens'];
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  // Three spellings of the same number: the common one, DeepSeek's, and a flat one.
  const cached =
    toCount(toRecord(value['prompt_tokens_details'])['cached_tokens']) ??
    toCount(value['prompt_cache_hit_tokens']) ??
    toCount(value['cached_tokens']) ??
    0;
  const reasoning =
    toCount(toRecord(value['completion_tokens_details'])['reasoning_tokens']) ??
    toCount(value['reasoning_tokens']) ??
    0;
  return {
    inputTokens,
    cachedInputTokens: Math.min(cached, inputTokens),
    outputTokens,
    reasoningTokens: Math.min(reasoning, outputTokens),
    basis: 'reported',
  };
}

function isCount(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    // -0 would print as a negative amount.
    !Object.is(value, -0) &&
    value >= 0 &&
    value <= TOKEN_COUNT_MAX
  );
}

/** The count, or undefined where it is no integer between 0 and 10⁹. */
export function toCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined;
}
