// The token counts that an upstream reports, believed only as far as they make sense. Called for
// every chunk and every whole answer; what is returned here is what the customer pays for.

import type { Usage } from '../../../core/generation.ts';
import { isObject } from '../../json.ts';
import { TOKEN_COUNT_MAX } from '../limits.ts';
import { toCount, toObject } from '../narrow.ts';

/**
 * Reads a `usage` object. Undefined when it is missing or when a count is not an integer between 0
 * and 10⁹: the gateway's own count is used then. Counts in chat completions include their parts:
 * the cached tokens lie within the prompt, the reasoning within the completion.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const inputTokens = toCount(value['prompt_tokens']);
  const completionTokens = toCount(value['completion_tokens']);
  if (inputTokens === undefined || completionTokens === undefined) return undefined;
  // Three spellings of the same number: the common one, DeepSeek's, and a flat one.
  const cached =
    toCount(toObject(value['prompt_tokens_details'])['cached_tokens']) ??
    toCount(value['prompt_cache_hit_tokens']) ??
    toCount(value['cached_tokens']) ??
    0;
  const reasoning =
    toCount(toObject(value['completion_tokens_details'])['reasoning_tokens']) ??
    toCount(value['reasoning_tokens']) ??
    0;
  // xAI counts the reasoning beside the completion; only the total tells.
  const isBeside = value['total_tokens'] === inputTokens + completionTokens + reasoning;
  const outputTokens = isBeside ? completionTokens + reasoning : completionTokens;
  if (outputTokens > TOKEN_COUNT_MAX) return undefined;
  return {
    inputTokens,
    cachedInputTokens: Math.min(cached, inputTokens),
    cacheWriteTokens: 0,
    outputTokens,
    reasoningTokens: Math.min(reasoning, outputTokens),
    basis: 'reported',
  };
}
