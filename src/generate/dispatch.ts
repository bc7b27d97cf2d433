// Starts the attempts of one request. A stream writes checkpoints to the ledger from its first
// content on, so that recovery after a crash knows what was delivered. A whole answer needs none:
// it is settled before it is delivered.

import type { AttemptOptions } from '../upstream/attempt.ts';
import type { Permit } from '../upstream/permit.ts';
import { showsReasoning } from './answer-head.ts';
import type { Delivery } from './checkpoints.ts';
import type { Admitted } from './finish.ts';
import { MeteredAttempt } from './metered-attempt.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';

/** A client disconnect aborts the attempt, and its permit ends with it. */
export function startMetered(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  options: AttemptOptions,
  permit: Permit,
): MeteredAttempt {
  const { checked, grant, lifetime } = admitted;
  const { trace } = checked.call;
  const traced = trace === undefined ? options : { ...options, trace: trace.startAttempt() };
  const attempt = new MeteredAttempt(dependencies.startAttempt(traced), {
    permit,
    grant,
    countNow: dependencies.tokenizer.countNow,
    monotonic: dependencies.monotonic,
    streams: options.stream,
    learned: dependencies.learned,
    accountId: checked.facts.accountId,
    startTimer: dependencies.startDeadline,
    delivery: checked.request.stream ? deliveryOf(dependencies, checked, options) : undefined,
  });
  lifetime.follow(attempt);
  return attempt;
}

function deliveryOf(
  { clock, ledger, booking }: GenerateDependencies,
  checked: CheckedRequest,
  { candidate }: AttemptOptions,
): Delivery {
  const { requestId } = checked.call;
  const { model, upstream, price } = candidate;
  const served = { model: model.slug, upstream: upstream.id, price };
  return {
    showsReasoning: showsReasoning(checked),
    isAwaited: booking === 'awaited',
    checkpoint: (progress, isAwaited) =>
      ledger.checkpoint({ requestId, served, ...progress, nowMs: clock(), isAwaited }),
  };
}
