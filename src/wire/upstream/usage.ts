// Reads the token counts of an answer, in the dialects whose prompt count includes what was cached,
// and accepts them only if they are consistent. The customer is charged for the result. A
// contradictory report is never corrected: it is rejected with the reason.

import type { JsonObject, JsonValue, Usage, UsageReport } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import { TOKEN_COUNT_MAX } from './limits.ts';
import { hasValue, toCount, toObject } from './narrow.ts';

type Doubt = 'malformed' | 'inconsistent';

/** A count as it was reported; undefined if it was not. */
type Count = JsonValue | undefined;

type Counts = {
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
 * Creates a reader of `usage` objects. It returns undefined if the object is missing or empty: then,
 * as for a rejected report, the gateway's own count is used. `malformed`: a count is not an integer
 * between 0 and 10⁹. `inconsistent`: the parts do not add up to the total.
 */
function usageReader(promptName: string, completionName: string) {
  const names = {
    promptName,
    completionName,
    promptDetails: `${promptName}_details`,
    completionDetails: `${completionName}_details`,
  };
  return (value: unknown): UsageReport | undefined => {
    if (!isObject(value)) return undefined;
    if (!hasValue(value[promptName]) && !hasValue(value[completionName])) return undefined;
    const counts = readCounts(value, names);
    if (typeof counts === 'string') return { basis: 'rejected', doubt: counts };
    return reconcile(counts) ?? { basis: 'rejected', doubt: 'inconsistent' };
  };
}

export const readChatUsage = usageReader('prompt_tokens', 'completion_tokens');
export const readResponsesUsage = usageReader('input_tokens', 'output_tokens');

type Names = Readonly<
  Record<'promptName' | 'completionName' | 'promptDetails' | 'completionDetails', string>
>;

function readCounts(value: JsonObject, names: Names): Counts | Doubt {
  const prompt = toCount(value[names.promptName]);
  const completion = toCount(value[names.completionName]);
  if (prompt === undefined || completion === undefined) return 'malformed';
  const read = toObject(value[names.promptDetails]);
  const made = toObject(value[names.completionDetails]);
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

/**
 * One count with several names; 0 if all are absent. A zero beside a number is a placeholder for an
 * unused name; two different numbers contradict each other.
 */
function readPart(first: Count, second?: Count, third?: Count, fourth?: Count): number | Doubt {
  let found: number | Doubt = 0;
  if (first !== undefined) found = withSpelling(found, first);
  if (second !== undefined) found = withSpelling(found, second);
  if (third !== undefined) found = withSpelling(found, third);
  return fourth === undefined ? found : withSpelling(found, fourth);
}

function withSpelling(found: number | Doubt, spelling: Count): number | Doubt {
  if (typeof found === 'string' || !hasValue(spelling)) return found;
  const count = toCount(spelling);
  if (count === undefined) return 'malformed';
  if (found !== 0 && count !== 0 && count !== found) return 'inconsistent';
  return count === 0 ? found : count;
}

/**
 * Parts may be included in their wholes or not, and only the total shows which. Without a total
 * they are included, as the format defines. Undefined if no interpretation matches the total.
 */
function reconcile(counts: Counts): Usage | undefined {
  const { prompt, cached, written, completion, reasoning, total } = counts;
  const sum = prompt + completion;
  if (total === undefined || total === sum) return usageOf(counts, prompt, completion, reasoning);
  // xAI reports reasoning in addition to the completion.
  if (total === sum + reasoning) return usageOf(counts, prompt, completion + reasoning, reasoning);
  // xAI, and gateways to Messages upstreams such as Portkey, may report the cache in addition to the prompt.
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
  const usage: Usage = {
    inputTokens,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    outputTokens,
    reasoningTokens,
    basis: 'reported',
  };
  if (explicit === 0 && long === 0) return usage;
  return {
    ...usage,
    ...(explicit > 0 && { cachedExplicitTokens: explicit }),
    ...(long > 0 && { cacheWriteLongTokens: long }),
  };
}
