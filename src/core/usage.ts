// Which token counts an answer is charged for.

import type { Usage } from './generation.ts';

/** How far a report may exceed our own count before it is taken for nonsense. */
const TOLERANCE_FACTOR = 10;
const TOLERANCE_TOKENS = 1_000;

/**
 * The upstream's report wins when it is sane: a zero is a zero, but no report may exceed both what
 * the model could have done (its window, the bound that it was told) and our own count by far.
 * Without a sane report the estimate counts, and the record says so.
 */
export function decideUsage(facts: {
  readonly reported: Usage | undefined;
  /** Our own count; made only where it is needed, because counting takes time. */
  readonly estimate: () => Usage;
  readonly contextWindow: number;
  readonly outputBound: number;
}): Usage {
  const { reported, contextWindow, outputBound } = facts;
  if (reported === undefined) return facts.estimate();
  if (reported.inputTokens <= contextWindow && reported.outputTokens <= outputBound)
    return reported;
  const own = facts.estimate();
  const sane =
    reported.inputTokens <= Math.max(contextWindow, tolerated(own.inputTokens)) &&
    reported.outputTokens <= Math.max(outputBound, tolerated(own.outputTokens));
  return sane ? reported : own;
}

function tolerated(tokens: number): number {
  return tokens * TOLERANCE_FACTOR + TOLERANCE_TOKENS;
}
