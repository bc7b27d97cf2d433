// The usage that a request is charged, by the rule of its ending: the upstream's report, or our count
// with an estimate of what was not seen (decision 0186).

import type { Usage } from '../core/generation.ts';
import type { Learned } from '../core/learned.ts';
import type { ChargeRule } from '../core/outcome.ts';
import { estimateUsage, NOTHING_UNSEEN, type Quiet, withUnseen } from '../core/unseen.ts';
import { decideUsage, withNamedTier, withPricedTier } from '../core/usage.ts';
import { showsReasoning } from './answer-head.ts';
import type { MeteredAttempt } from './metered-attempt.ts';
import type { CheckedRequest } from './pipeline-types.ts';

const REPORTED_OUTPUT = { counted: 'all', reported: 'thinking', delivered: 'none' } as const;

/** `silent` are earlier attempts of the request that thought until their timer ended them. */
export function chargedUsage(
  learned: Learned,
  checked: CheckedRequest,
  rule: Exclude<ChargeRule, 'nothing'>,
  attempt: MeteredAttempt,
  silent: readonly MeteredAttempt[],
): Usage {
  const { candidate, meter } = attempt;
  const { model, upstream, profile, maxOutputTokens: outputBound } = candidate;
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
        ratioPercent: learned.ratioPercent(model.slug, upstream.id),
        cachedTokens: learned.cachedTokens({
          accountId,
          upstream: upstream.id,
          request,
          affinity: candidate.affinity,
        }),
      }),
    counted: promptTokens,
    promptFactor: learned.boundFactor(model.slug, upstream.id, accountId),
    outputBound,
    unread: attempt.unread(),
  });
  const tiered = withPricedTier(withNamedTier(decided, attempt.soFar()?.serviceTier()), [
    price,
    candidate.price,
  ]);
  const isUnseen = rule === 'counted' || (rule === 'reported' && attempt.endsEarly());
  const quiet = [...silent, ...(isUnseen ? [attempt] : [])]
    .map((each) => each.quiet())
    .reduce(addQuiet, NOTHING_UNSEEN);
  return withUnseen(tiered, quiet, learned.pace(model, upstream.id, accountId), outputBound);
}

function addQuiet(a: Quiet, b: Quiet): Quiet {
  return { quietMs: a.quietMs + b.quietMs, quietTokens: a.quietTokens + b.quietTokens };
}

/** Teaches what a placement's answers are like, once for each request that is charged. */
export function learn(
  learned: Learned,
  checked: CheckedRequest,
  attempt: MeteredAttempt,
  { estimate, doubt }: Usage,
): void {
  const { accountId } = checked.facts;
  const { model, upstream, affinity } = attempt.candidate;
  learned.ended(accountId, estimate !== undefined);
  const reported = attempt.meter.reported();
  if (reported?.basis !== 'reported' || attempt.meter.finish() === undefined) return;
  const { promptTokens: counted, request } = checked;
  if (doubt === 'implausible' && reported.inputTokens > counted) learned.overran(accountId);
  learned.finished({
    ...{ model: model.slug, upstream: upstream.id, accountId },
    ...{ usage: reported, counted, workMs: attempt.workMs() },
  });
  learned.cached({ accountId, upstream: upstream.id, request, affinity }, reported);
}
