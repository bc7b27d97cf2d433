// The token counts of a Messages answer, believed only as far as they make sense. They come in
// several events, each with some of the counts; what is left here is what the customer pays for.

import type { JsonObject, Usage } from '../../../core/generation.ts';
import { isObject } from '../../json.ts';
import { TOKEN_COUNT_MAX } from '../limits.ts';
import { toCount, toObject } from '../narrow.ts';

/** The counts in this format are disjoint: none of the three is part of another. */
const PROMPT_COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

export type UsageReader = {
  /** Takes a `usage` object. Counts are totals so far: the last sane one of each kind counts. */
  readonly read: (value: unknown) => void;
  /** The same where an answer begins: its output is still to come, whatever the count of it says. */
  readonly readStart: (value: unknown) => void;
  /** Undefined while the prompt or the output is unknown: the gateway's own count is used then. */
  readonly usage: () => Usage | undefined;
};

export function createUsageReader(): UsageReader {
  const counts = new Map<string, number>();
  let reasoningTokens = 0;

  function prompt(): number {
    return PROMPT_COUNTS.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
  }

  function keep(name: string, value: JsonObject): void {
    const count = toCount(value[name]);
    if (count !== undefined) counts.set(name, count);
  }

  function readStart(value: unknown): void {
    if (!isObject(value)) return;
    // Some servers know the prompt only at the start, and say 0 at the end.
    const saysNothing = PROMPT_COUNTS.every((name) => !toCount(value[name]));
    if (saysNothing && prompt() > 0) return;
    for (const name of PROMPT_COUNTS) keep(name, value);
  }

  return {
    readStart,
    read(value) {
      if (!isObject(value)) return;
      readStart(value);
      keep('output_tokens', value);
      const details = toObject(value['output_tokens_details']);
      reasoningTokens = toCount(details['thinking_tokens']) ?? reasoningTokens;
    },
    usage() {
      const inputTokens = prompt();
      const outputTokens = counts.get('output_tokens');
      if (!counts.has('input_tokens') || outputTokens === undefined) return undefined;
      if (inputTokens > TOKEN_COUNT_MAX) return undefined;
      return {
        inputTokens,
        cachedInputTokens: counts.get('cache_read_input_tokens') ?? 0,
        cacheWriteTokens: counts.get('cache_creation_input_tokens') ?? 0,
        outputTokens,
        reasoningTokens: Math.min(reasoningTokens, outputTokens),
        basis: 'reported',
      };
    },
  };
}
