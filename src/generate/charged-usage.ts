// The usage that a request is charged, by the rule of its ending: the upstream's report, or our count
// with an estimate of what was not seen (decision 0186).

import type { Usage } from '../core/generation.ts';
import type { Learned } from '../core/learned.ts';
import type { ChargeRule } from '../core/outcome.ts';
import { estimateUsage, NOTHING_UNSEEN, withOwnNumbers, withUnseen } from '../core/unseen.ts';
import { decideUsage, withNamedTier, withPricedTier } from '../core/usage.ts';
import { showsReasoning } from './answer-head.ts';
import type { MeteredAttempt } from './metered-attempt.ts';
import type { CheckedRequest } from './pipeline-types.ts';

const REPORTED_OUTPUT = { counted: 'all', reported: 'thinking', delivered: 'none' } as const;

/**
 * `silent` are earlier attempts of the request that thought until their timer ended them. A report of
 * the prompt is believed up to `promptFactor` times our count, for which money was reserved.
 */
export function chargedUsage(
  learned: Learned,
  checked: CheckedRequest,
  rule: Exclude<ChargeRule, 'nothing'>,
  attempt: MeteredAttempt,
  silent: readonly MeteredAttempt[],
  promptFactor: number,
): Usage {
  const { candidate, meter } = attempt;
  const { model, upstream, profile, affinity, maxOutputTokens: outputBound } = candidate;
  const { facts, request, promptTokens, price } = checked;
  const { accountId } = facts;
  const withReasoning = rule !== 'delivered' || showsReasoning(checked);
  const own = (): Usage => meter.estimate(promptTokens, withReasoning);
  const decided = decideUsage({
    reported: rule === 'reported' ? meter.reported() : undefined,
    unreportedWrites: profile.unreportedCacheWrites,
    estimate: own,
    unreported: () =>
      estimateUsage({
        own: own(),
        soFar: attempt.soFar()?.usageSoFar(),
        reportedOutput: REPORTED_OUTPUT[rule],
        ratioPercent: learned.ratioPercent(model.slug, upstream.id, promptTokens),
        cachedTokens:
          affinity === undefined
            ? 0
            : learned.cachedTokens({ accountId, upstream: upstream.id, request, affinity }),
      }),
    counted: promptTokens,
    promptFactor,
    outputBound,
    unread: attempt.unread(),
  });
  const named = withNamedTier(withOwnNumbers(decided), attempt.soFar()?.serviceTier());
  const tiered = withPricedTier(named, [price, candidate.price]);
  const isUnseen = rule === 'counted' || (rule === 'reported' && attempt.endsEarly());
  if (!isUnseen && silent.length === 0) return tiered;
  const { quietMs, quietTokens } = isUnseen ? attempt.quiet() : NOTHING_UNSEEN;
  const quiet = { quietMs, quietTokens };
  for (const each of silent) {
    if (each === attempt) continue;
    quiet.quietMs += each.quiet().quietMs;
    quiet.quietTokens += each.quiet().quietTokens;
  }
  return withUnseen(tiered, quiet, learned.pace(model, upstream.id, accountId), outputBound);
}

/** Teaches what a placement's answers are like, once for each request that is charged. */
export function learn(
  learned: Learned,
  checked: CheckedRequest,
  attempt: MeteredAttempt,
  { estimate, doubt }: Usage,
): void {
  const { facts, promptTokens, request } = checked;
  const { accountId } = facts;
  const { model, upstream, affinity } = attempt.candidate;
  learned.ended(accountId, estimate !== undefined);
  const reported = attempt.meter.reported();
  if (reported?.basis !== 'reported' || attempt.meter.finish() === undefined) return;
  if (doubt === 'implausible' && reported.inputTokens > promptTokens) learned.overran(accountId);
  const workMs = attempt.workMs();
  learned.finished(model.slug, upstream.id, accountId, reported, promptTokens, workMs);
  if (affinity === undefined || reported.cachedInputTokens + reported.cacheWriteTokens === 0)
    return;
  learned.cached({ accountId, upstream: upstream.id, request, affinity }, reported);
}
