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
  readonly estimated: Usage;
  readonly contextWindow: number;
  readonly outputBound: number;
}): Usage {
  const { reported, estimated } = facts;
  if (reported === undefined) return estimated;
  const inputMax = Math.max(facts.contextWindow, tolerated(estimated.inputTokens));
  const outputMax = Math.max(facts.outputBound, tolerated(estimated.outputTokens));
  const sane = reported.inputTokens <= inputMax && reported.outputTokens <= outputMax;
  return sane ? reported : estimated;
}

function tolerated(tokens: number): number {
  return tokens * TOLERANCE_FACTOR + TOLERANCE_TOKENS;
}
