// Which token counts an answer is charged for.

import type { Usage, UsageReport } from './generation.ts';

/** Of what no upstream has read. */
export const NO_USAGE = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
} as const;

/** How far a report of the prompt may exceed our own count before it is taken for nonsense. */
const TOLERANCE_FACTOR = 10;
const TOLERANCE_TOKENS = 1_000;

/**
 * Servers differ in whether the last tokens count: a report this far beyond the bound is believed,
 * and its output is charged up to the bound.
 */
const OVERRUN_TOKENS = 256;

/**
 * Text behind a stop sequence for which its caller pays nothing. The upstream is read on only for its
 * report; a caller who asks for very long answers and cuts their first word would otherwise have the
 * operator pay for them.
 */
const UNREAD_FREE_TOKENS = 1_024;

/**
 * The upstream's report wins when it is sane: a zero is a zero, but no report may exceed what the
 * model could have read (its window, or our own count by far) or the bound on output that the
 * upstream was given. `doubt` says why another count is charged. The caller's bound is a bound on
 * what is charged, whatever an upstream does with it.
 *
 * A report that contradicts itself says nothing: our own count is charged. One that is implausible
 * says that there was much: an upstream that reads more than the catalog knows would otherwise read
 * for nothing. So the implausible count becomes the larger of our own and the bound of the request,
 * and the other one the larger of our own and the reported one.
 *
 * A zero for something that was there is charged as a zero, but it is doubted:
 * the operator pays for what the customer does not.
 *
 * An answer that broke, was cut or was left has no report, whatever its upstream had said on the way:
 * a count in the middle may be 1 for a start, behind what was delivered or ahead of it. What was
 * delivered is charged then, and that is our own count.
 */
export function decideUsage(facts: {
  readonly reported: UsageReport | undefined;
  /** Our own count; made only where it is needed, because counting takes time. */
  readonly estimate: () => Usage;
  readonly contextWindow: number;
  readonly outputBound: number;
  /** Our count of what came behind a stop sequence; absent where no upstream was read on. */
  readonly unread?: Usage | undefined;
}): Usage {
  const made = decideMade(facts);
  const { unread, estimate, outputBound } = facts;
  const isWhole = unread === undefined || made.doubt === 'implausible';
  return boundOutput(isWhole ? made : withoutUnread(made, estimate(), unread), outputBound);
}

/** What the upstream made, delivered or not, and also beyond the bound. */
function decideMade(facts: Parameters<typeof decideUsage>[0]): Usage {
  const { reported, estimate } = facts;
  if (reported === undefined) return estimate();
  if (reported.basis === 'rejected') return { ...estimate(), doubt: reported.doubt };
  if (isImplausible(reported, facts)) return mostOf(reported, facts);
  return isGivenAway(reported, estimate) ? { ...reported, doubt: 'zero' } : reported;
}

type Bounds = Pick<Parameters<typeof decideUsage>[0], 'estimate' | 'contextWindow' | 'outputBound'>;

function isImplausible(reported: Usage, { estimate, contextWindow, outputBound }: Bounds): boolean {
  if (reported.outputTokens > outputBound + OVERRUN_TOKENS) return true;
  if (reported.inputTokens <= contextWindow) return false;
  return reported.inputTokens > estimate().inputTokens * TOLERANCE_FACTOR + TOLERANCE_TOKENS;
}

/** The larger count of each kind, the reported one only up to what the request allowed. */
function mostOf(reported: Usage, { estimate, contextWindow }: Bounds): Usage {
  const own = estimate();
  return {
    ...own,
    inputTokens: Math.max(own.inputTokens, Math.min(reported.inputTokens, contextWindow)),
    outputTokens: Math.max(own.outputTokens, reported.outputTokens),
    reasoningTokens: Math.max(own.reasoningTokens, reported.reasoningTokens),
    doubt: 'implausible',
  };
}

/**
 * What an answer costs that ended at a stop sequence while its upstream went on: what was delivered,
 * and the thinking that was not shown, which is known from the report alone. Where the report does not
 * name the thinking, it is what no text accounts for. Never more than all that the upstream made.
 */
function withoutUnread(made: Usage, own: Usage, unread: Usage): Usage {
  const overdue = Math.max(0, unread.outputTokens - UNREAD_FREE_TOKENS);
  const isReported = made.basis === 'reported';
  const hidden = isReported
    ? Math.max(
        0,
        made.reasoningTokens - own.reasoningTokens - unread.reasoningTokens,
        made.outputTokens - own.outputTokens - unread.outputTokens,
      )
    : 0;
  const due = own.outputTokens + hidden + overdue;
  const most = isReported ? Math.max(own.outputTokens, made.outputTokens) : due;
  const outputTokens = Math.min(due, most);
  return {
    ...made,
    outputTokens,
    reasoningTokens: Math.min(own.reasoningTokens + hidden, outputTokens),
  };
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
