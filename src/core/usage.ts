// Which token counts an answer is charged for.

import type { Usage } from './generation.ts';

/** How far a report of the prompt may exceed our own count before it is taken for nonsense. */
const TOLERANCE_FACTOR = 10;
const TOLERANCE_TOKENS = 1_000;

/** Servers differ in whether the last tokens count, but no further than this beyond the bound. */
const OVERRUN_TOKENS = 256;

/**
 * The upstream's report wins when it is sane: a zero is a zero, but no report may exceed what the
 * model could have read (its window, or our own count by far) or the bound on output that the
 * upstream was told. Otherwise our estimate counts, and the record says so. The caller's bound is a
 * bound on what is charged, whatever an upstream makes of it.
 *
 * An answer that broke, was cut or was left has no report, whatever its upstream had said on the way:
 * a count in the middle may be 1 for a start, behind what was delivered or ahead of it. What was
 * delivered is charged then (design section 4), and that is our own count.
 */
export function decideUsage(facts: {
  readonly reported: Usage | undefined;
  /** Our own count; made only where it is needed, because counting takes time. */
  readonly estimate: () => Usage;
  readonly contextWindow: number;
  readonly outputBound: number;
}): Usage {
  const { reported, contextWindow, outputBound } = facts;
  if (reported === undefined) return boundOutput(facts.estimate(), outputBound);
  const plausible = reported.outputTokens <= outputBound + OVERRUN_TOKENS;
  if (plausible && reported.inputTokens <= contextWindow) return reported;
  const own = facts.estimate();
  if (plausible && reported.inputTokens <= tolerated(own.inputTokens)) return reported;
  return boundOutput(own, outputBound);
}

function boundOutput(usage: Usage, outputBound: number): Usage {
  if (usage.outputTokens <= outputBound) return usage;
  const reasoningTokens = Math.min(usage.reasoningTokens, outputBound);
  return { ...usage, outputTokens: outputBound, reasoningTokens };
}

function tolerated(tokens: number): number {
  return tokens * TOLERANCE_FACTOR + TOLERANCE_TOKENS;
}
