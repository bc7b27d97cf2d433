// Reads the token counts of a chat-completions answer.

import type { JsonObject, UsageReport } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import { type Counts, type Doubt, isMissing, readPart, reconcile } from '../counts.ts';
import { toCount, toObject } from '../narrow.ts';

/**
 * Reads a `usage` object. Undefined if it is missing or empty: then, as for a rejected report, the
 * gateway's own count is used. `malformed`: a count is not an integer between 0 and 10⁹.
 * `inconsistent`: the parts do not add up to the total.
 */
export function readUsage(value: unknown): UsageReport | undefined {
  if (!isObject(value)) return undefined;
  if (isMissing(value['prompt_tokens']) && isMissing(value['completion_tokens'])) return undefined;
  const counts = readCounts(value);
  if (typeof counts === 'string') return { basis: 'rejected', doubt: counts };
  return reconcile(counts) ?? { basis: 'rejected', doubt: 'inconsistent' };
}

function readCounts(value: JsonObject): Counts | Doubt {
  const prompt = toCount(value['prompt_tokens']);
  const completion = toCount(value['completion_tokens']);
  if (prompt === undefined || completion === undefined) return 'malformed';
  const read = toObject(value['prompt_tokens_details']);
  const made = toObject(value['completion_tokens_details']);
  // OpenAI, xAI, Gemini, OpenRouter, vLLM and llama.cpp; DeepSeek; Moonshot; gateways that pass on
  // the counts of a Messages upstream.
  const cached = readPart(
    read['cached_tokens'],
    value['prompt_cache_hit_tokens'],
    value['cached_tokens'],
    value['cache_read_input_tokens'],
  );
  if (typeof cached === 'string') return cached;
  // OpenAI and OpenRouter; LiteLLM; DashScope; gateways as above.
  const written = readPart(
    read['cache_write_tokens'],
    read['cache_creation_tokens'],
    read['cache_creation_input_tokens'],
    value['cache_creation_input_tokens'],
  );
  if (typeof written === 'string') return written;
  // OpenAI, since 5.6; gateways that pass on the counts of a Messages upstream.
  const long = readPart(
    toObject(read['cache_write_tokens_details'])['ttl_12h_tokens'],
    toObject(value['cache_creation'])['ephemeral_1h_input_tokens'],
  );
  if (typeof long === 'string') return long;
  if (long > written) return 'inconsistent';
  // DashScope uses either explicit or implicit caching in a request, and names the explicit one.
  const explicit = read['cache_type'] === 'ephemeral' ? cached : 0;
  const reasoning = readPart(made['reasoning_tokens'], value['reasoning_tokens']);
  if (typeof reasoning === 'string') return reasoning;
  // DeepSeek's hits and misses are the whole prompt.
  const missed = readPart(value['prompt_cache_miss_tokens']);
  if (typeof missed === 'string') return missed;
  if (missed > 0 && cached + missed !== prompt) return 'inconsistent';
  const total = readPart(value['total_tokens']);
  if (typeof total === 'string') return total;
  // Gateways fill a total that they do not track with 0.
  const known = total || undefined;
  return { prompt, cached, written, explicit, long, completion, reasoning, total: known };
}
