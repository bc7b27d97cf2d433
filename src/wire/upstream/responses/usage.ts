// Reads the token counts of a Responses answer.

import type { JsonObject, UsageReport } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import { type Counts, type Doubt, isMissing, readPart, reconcile } from '../counts.ts';
import { toCount, toObject } from '../narrow.ts';

/**
 * Reads a `usage` object. Undefined if it is missing or empty: then, as for a rejected report, the
 * gateway's own count is used.
 */
export function readUsage(value: unknown): UsageReport | undefined {
  if (!isObject(value)) return undefined;
  if (isMissing(value['input_tokens']) && isMissing(value['output_tokens'])) return undefined;
  const counts = readCounts(value);
  if (typeof counts === 'string') return { basis: 'rejected', doubt: counts };
  return reconcile(counts) ?? { basis: 'rejected', doubt: 'inconsistent' };
}

/** xAI may leave what was cached out of the input: the total shows it. */
function readCounts(value: JsonObject): Counts | Doubt {
  const prompt = toCount(value['input_tokens']);
  const completion = toCount(value['output_tokens']);
  if (prompt === undefined || completion === undefined) return 'malformed';
  const read = toObject(value['input_tokens_details']);
  const made = toObject(value['output_tokens_details']);
  const cached = readPart(read['cached_tokens']);
  if (typeof cached === 'string') return cached;
  const written = readPart(read['cache_write_tokens']);
  if (typeof written === 'string') return written;
  const long = readPart(toObject(read['cache_write_tokens_details'])['ttl_12h_tokens']);
  if (typeof long === 'string') return long;
  if (long > written) return 'inconsistent';
  const reasoning = readPart(made['reasoning_tokens']);
  if (typeof reasoning === 'string') return reasoning;
  const total = readPart(value['total_tokens']);
  if (typeof total === 'string') return total;
  // Gateways fill a total that they do not track with 0.
  return { prompt, cached, written, long, completion, reasoning, total: total || undefined };
}
