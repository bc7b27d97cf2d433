// The usage of an answer that ended without its final report: what was read is counted, and what
// the upstream made unseen is estimated by its pace. The numbers of the estimate stay with the
// usage, so that it can be recomputed from the bill (decision 0186). Pure.

import type { Usage, UsageReport } from './generation.ts';
import type { Estimate } from './usage-estimate.ts';

/** Time in which an upstream worked and sent nothing, and the tokens with which it ended. */
export type Quiet = Pick<Estimate, 'quietMs' | 'quietTokens'>;

/** What an upstream made unseen in that time, at that many tokens a second. */
export function unseenTokens({ quietMs, quietTokens }: Quiet, pace: number): number {
  return Math.max(0, Math.floor((quietMs * pace) / 1_000) - quietTokens);
}

export const NOTHING_UNSEEN: Quiet = { quietMs: 0, quietTokens: 0 };

/** The usage of an answer that ended before its final report, without what was not seen. */
export function estimateUsage(facts: {
  /** Our count of the prompt and of what was read. */
  readonly own: Usage;
  /** What the upstream had reported by then. */
  readonly soFar: UsageReport | undefined;
  /**
   * Which part of a reported output counts: `all`, only what is hidden (`thinking`) where the text was
   * cut and the report covers what was dropped, or `none`.
   */
  readonly reportedOutput: 'all' | 'thinking' | 'none';
  readonly ratioPercent: number;
  /** The part of the prompt that the upstream is known to have in its cache. */
  readonly cachedTokens: number;
}): Usage {
  const { own, ratioPercent, cachedTokens, reportedOutput } = facts;
  const soFar = facts.soFar?.basis === 'rejected' ? undefined : facts.soFar;
  const thought = reportedOutput === 'none' ? 0 : (soFar?.reasoningTokens ?? 0);
  const reasoningTokens = Math.max(own.reasoningTokens, thought);
  const counted = own.outputTokens + reasoningTokens - own.reasoningTokens;
  const reported = reportedOutput === 'all' ? (soFar?.outputTokens ?? 0) : 0;
  const outputTokens = Math.max(counted, reported);
  const output = { outputTokens, reasoningTokens, basis: 'estimated' } as const;
  if (soFar !== undefined && soFar.inputTokens > 0) return { ...soFar, ...output };
  const inputTokens = promptTokens(own.inputTokens, ratioPercent);
  const cachedInputTokens = Math.min(cachedTokens, inputTokens);
  const usage = { ...own, inputTokens, cachedInputTokens, ...output };
  if (ratioPercent === 100) return usage;
  const prompt = { counted: own.inputTokens, ratioPercent };
  return { ...usage, estimate: { ...prompt, seen: outputTokens, ...NOTHING_UNSEEN, pace: 0 } };
}

/** The estimate of a usage that a bound may have lowered since: its numbers give this usage again. */
export function withOwnNumbers(usage: Usage): Usage {
  if (usage.estimate === undefined) return usage;
  const { counted, ratioPercent, ...rest } = usage.estimate;
  const isCounted =
    counted !== undefined &&
    ratioPercent !== undefined &&
    promptTokens(counted, ratioPercent) === usage.inputTokens;
  const prompt = isCounted ? { counted, ratioPercent } : {};
  return { ...usage, estimate: { ...prompt, ...rest, seen: usage.outputTokens } };
}

/** Adds what the upstream made unseen, up to the bound of the answer. */
export function withUnseen(usage: Usage, quiet: Quiet, pace: number, outputBound: number): Usage {
  const { outputTokens: seen, estimate: prompt } = usage;
  const made = seen + unseenTokens(quiet, pace);
  if (made === seen) return usage;
  const outputTokens = Math.max(seen, Math.min(made, outputBound));
  const estimate: Estimate = {
    ...prompt,
    seen,
    ...quiet,
    pace,
    ...(outputTokens < made && { most: outputTokens }),
  };
  const reasoningTokens = usage.reasoningTokens + outputTokens - seen;
  return { ...usage, outputTokens, reasoningTokens, basis: 'estimated', estimate };
}

function promptTokens(counted: number, ratioPercent: number): number {
  return Math.round((counted * ratioPercent) / 100);
}

/** Whether a usage is what the numbers of its estimate give; true without an estimate. */
export function isRecomputed({ estimate, inputTokens, outputTokens }: Usage): boolean {
  if (estimate === undefined) return true;
  const made = recompute(estimate);
  return made.outputTokens === outputTokens && (made.inputTokens ?? inputTokens) === inputTokens;
}

/** The prompt and the output that an estimate gives; a prompt that was reported is left out. */
export function recompute({ counted, ratioPercent = 100, ...estimate }: Estimate) {
  const { seen, pace, most = Number.POSITIVE_INFINITY } = estimate;
  return {
    ...(counted !== undefined && { inputTokens: promptTokens(counted, ratioPercent) }),
    outputTokens: Math.min(most, seen + unseenTokens(estimate, pace)),
  };
}
