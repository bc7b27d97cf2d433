// Reports an ended request to operators. The pipeline calls it once for each request that had a
// grant. It contains counts and names, and no prompt or answer text.

import type { FailureClass } from '../core/failure.ts';
import type { Ended } from './grant.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';

/** `failure` is the class of the upstream's failure, if it failed. */
export function report(
  { alert, funds }: GenerateDependencies,
  { call, facts, catalog, promptTokens }: CheckedRequest,
  { receipt, settlement, attempts }: Ended,
  failure?: FailureClass,
): void {
  const { modelServed, fallbackUsed, outcome, usage } = receipt;
  const { requestId } = call;
  if (settlement.restricted === true) {
    alert({ kind: 'account_restricted', accountId: facts.accountId, requestId });
  }
  if (settlement.available < catalog.minimumHold) funds.doubt(facts.accountId);
  const upstream = attempts.findLast(({ credential }) => credential !== undefined)?.upstream;
  if (usage.doubt !== undefined) {
    const { doubt } = usage;
    alert({
      kind: 'usage_doubted',
      model: modelServed,
      upstream: upstream ?? 'unknown',
      doubt,
      requestId,
    });
  }
  call.trace?.mark('settle');
  call.tally.ended({
    modelServed,
    upstream,
    fallbackUsed,
    outcome,
    usage,
    promptTokens,
    debited: settlement.debited,
    loss: settlement.loss,
    counted: settlement.counted,
    attempts,
    failure,
  });
}
