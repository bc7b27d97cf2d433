// Which token counts an answer is charged for.

import type { Usage, UsageDoubt, UsageReport } from './generation.ts';

/** How far a report of the prompt may exceed our own count before it is taken for nonsense. */
const TOLERANCE_FACTOR = 10;
const TOLERANCE_TOKENS = 1_000;

/**
 * Servers differ in whether the last tokens count: a report this far beyond the bound is believed,
 * and its output is charged up to the bound.
 */
const OVERRUN_TOKENS = 256;

/**
 * The upstream's report wins when it is sane: a zero is a zero, but no report may exceed what the
 * model could have read (its window, or our own count by far) or the bound on output that the
 * upstream was told. Otherwise our estimate counts, and `doubt` says why. The caller's bound is a
 * bound on what is charged, whatever an upstream makes of it.
 *
 * A zero for something that was there is charged as a zero (design section 5), but it is doubted:
 * the operator pays for what the customer does not.
 *
 * An answer that broke, was cut or was left has no report, whatever its upstream had said on the way:
 * a count in the middle may be 1 for a start, behind what was delivered or ahead of it. What was
 * delivered is charged then (design section 4), and that is our own count.
 */
export function decideUsage(facts: {
  readonly reported: UsageReport | undefined;
  /** Our own count; made only where it is needed, because counting takes time. */
  readonly estimate: () => Usage;
  readonly contextWindow: number;
  readonly outputBound: number;
}): Usage {
  const { reported, contextWindow, outputBound } = facts;
  if (reported === undefined) return boundOutput(facts.estimate(), outputBound);
  if (reported.basis === 'rejected') return instead(facts, reported.doubt);
  if (reported.outputTokens > outputBound + OVERRUN_TOKENS) return instead(facts, 'implausible');
  if (reported.inputTokens > contextWindow) {
    const most = facts.estimate().inputTokens * TOLERANCE_FACTOR + TOLERANCE_TOKENS;
    if (reported.inputTokens > most) return instead(facts, 'implausible');
  }
  const usage = boundOutput(reported, outputBound);
  return isGivenAway(usage, facts.estimate) ? { ...usage, doubt: 'zero' } : usage;
}

/** Our own count in place of a report. */
function instead(
  { estimate, outputBound }: { readonly estimate: () => Usage; readonly outputBound: number },
  doubt: UsageDoubt,
): Usage {
  return { ...boundOutput(estimate(), outputBound), doubt };
}

function isGivenAway({ inputTokens, outputTokens }: Usage, estimate: () => Usage): boolean {
  if (inputTokens > 0 && outputTokens > 0) return false;
  const own = estimate();
  return (inputTokens === 0 && own.inputTokens > 0) || (outputTokens === 0 && own.outputTokens > 0);
}

function boundOutput(usage: Usage, outputBound: number): Usage {
  if (usage.outputTokens <= outputBound) return usage;
  const reasoningTokens = Math.min(usage.reasoningTokens, outputBound);
  return { ...usage, outputTokens: outputBound, reasoningTokens };
}
