// Decides which token counts of an answer are charged.

import type { Usage, UsageReport } from './generation.ts';
import { factorOf, type Price } from './price.ts';

/** For a request that no upstream has read. */
export const NO_USAGE = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
} as const;

/** A prompt report may always exceed our own count by so much: templates and tools are in it. */
const TOLERANCE_TOKENS = 1_000;

/**
 * Servers differ in whether the last tokens count, so a report up to this far beyond the bound is
 * accepted, and its output is charged up to the bound.
 */
const OVERRUN_TOKENS = 256;

/**
 * Free text behind a cut. The upstream is read on only for its report; without this limit, a caller
 * could request very long answers, have them cut at the first word and leave the operator to pay.
 */
const UNREAD_FREE_TOKENS = 1_024;

/**
 * The upstream's report is used if it is sane. A zero is accepted as zero. A report must exceed
 * neither a multiple of our count of the prompt (`promptFactor`, which the placement's reports have
 * taught) nor the output bound sent to the upstream. `doubt` says why another count is charged. The
 * caller's bound always limits the charge.
 *
 * A report that contradicts itself is ignored, and our own count is charged. An implausible count
 * is charged up to its bound.
 *
 * A zero for content that exists is charged as zero but marked doubtful: the operator pays for what
 * the customer does not.
 *
 * An answer that broke, was cut or was abandoned has no final report, and costs what `unreported`
 * estimates.
 */
export function decideUsage(facts: {
  readonly reported: UsageReport | undefined;
  /** The upstream's profile says whether it reports its cache writes; absent: it does. */
  readonly unreportedWrites?: 'count' | 'ignore';
  /** Our own count; computed only if needed, because counting takes time. */
  readonly estimate: () => Usage;
  /** The usage of an answer without a report. */
  readonly unreported: () => Usage;
  /** Our count of the prompt. */
  readonly counted: number;
  readonly promptFactor: number;
  readonly outputBound: number;
  /** Our count of the text behind a cut; absent unless the upstream was read on. */
  readonly unread?: Usage | undefined;
}): Usage {
  const made = decideMade(facts);
  const { unread, estimate, outputBound } = facts;
  const isWhole = unread === undefined || made.doubt === 'implausible';
  return boundOutput(isWhole ? made : withoutUnread(made, estimate(), unread), outputBound);
}

/** What the upstream generated, delivered or not, even beyond the bound. */
function decideMade(facts: Parameters<typeof decideUsage>[0]): Usage {
  const { estimate, unreported, unreportedWrites = 'ignore', outputBound } = facts;
  const { counted, promptFactor } = facts;
  const promptBound = Math.max(Math.floor(counted * promptFactor), counted + TOLERANCE_TOKENS);
  if (facts.reported === undefined) return withBoundPrompt(unreported(), promptBound);
  const reported = withUnreportedWrites(facts.reported, unreportedWrites);
  if (reported.basis === 'rejected') return { ...unreported(), doubt: reported.doubt };
  const isTooLong = reported.outputTokens > outputBound + OVERRUN_TOKENS;
  if (isTooLong || reported.inputTokens > promptBound) {
    return atLeast(withBoundPrompt(reported, promptBound), estimate());
  }
  return isGivenAway(reported, estimate) ? { ...reported, doubt: 'zero' } : reported;
}

/** An implausible report is at least our own count. */
function atLeast(reported: Usage, own: Usage): Usage {
  return {
    ...reported,
    inputTokens: Math.max(own.inputTokens, reported.inputTokens),
    outputTokens: Math.max(own.outputTokens, reported.outputTokens),
    reasoningTokens: Math.max(own.reasoningTokens, reported.reasoningTokens),
    basis: 'estimated',
    doubt: 'implausible',
  };
}

/** A prompt above what the upstream can have read is charged up to that, as cached as it was. */
function withBoundPrompt(usage: Usage, most: number): Usage {
  if (usage.inputTokens <= most) return usage;
  const { cachedExplicitTokens: explicit, cacheWriteLongTokens: long, ...rest } = usage;
  const cachedInputTokens = Math.min(usage.cachedInputTokens, most);
  const cacheWriteTokens = Math.min(usage.cacheWriteTokens, most - cachedInputTokens);
  return {
    ...rest,
    inputTokens: most,
    cachedInputTokens,
    cacheWriteTokens,
    doubt: 'implausible',
    ...(explicit !== undefined && { cachedExplicitTokens: Math.min(explicit, cachedInputTokens) }),
    ...(long !== undefined && { cacheWriteLongTokens: Math.min(long, cacheWriteTokens) }),
  };
}

/**
 * The cost of an answer that was cut while its upstream continued: the delivered text plus hidden
 * thinking, which only the report shows. If the report does not list thinking, it is the part that
 * no text accounts for. Never more than everything the upstream generated.
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

/** The least prompt that upstreams store in their caches. */
const CACHED_PROMPT_MIN = 1_024;

/**
 * For upstreams that charge cache writes and report none of them: all that was not read from the
 * cache was written to it.
 */
export function withUnreportedWrites<Report extends UsageReport>(
  usage: Report,
  rule: 'count' | 'ignore',
): Report {
  if (rule === 'ignore' || usage.basis !== 'reported') return usage;
  const { inputTokens, cachedInputTokens, cacheWriteTokens } = usage;
  if (cacheWriteTokens > 0 || inputTokens < CACHED_PROMPT_MIN) return usage;
  return { ...usage, cacheWriteTokens: inputTokens - cachedInputTokens };
}

/** Our own count of an answer that named its service tier and did not come to its report. */
export function withNamedTier(usage: Usage, serviceTier: string | undefined): Usage {
  return serviceTier === undefined || usage.basis !== 'estimated'
    ? usage
    : { ...usage, serviceTier };
}

/**
 * Leaves out a service tier that none of the prices has a factor for, with a warning for operators:
 * it is charged as the ordinary tier, and its word stays out of the books.
 */
export function withPricedTier(usage: Usage, prices: readonly Price[]): Usage {
  if (usage.serviceTier === undefined) return usage;
  const { serviceTier, ...ordinary } = usage;
  if (prices.some((price) => factorOf(price, serviceTier) !== undefined)) return usage;
  return { ...ordinary, doubt: ordinary.doubt ?? 'service_tier' };
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
