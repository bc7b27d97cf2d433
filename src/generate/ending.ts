// How a request ends: what had happened by then, what `core/ending.ts` makes of it, and the one end
// of its grant. Called by the pipeline wherever it stops. Which outcome there is, and what is
// charged for it, is decided nowhere else.

import { decideEnding, type EndingCause, type EndingFacts } from '../core/ending.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { Receipt } from '../core/generation.ts';
import type { Candidate } from '../core/route.ts';
import type { CheckedRequest, GenerateDependencies } from './call.ts';
import type { Grant } from './grant.ts';
import type { Lifetime } from './lifetime.ts';
import type { MeteredAttempt } from './metered-attempt.ts';
import { report } from './report.ts';

/** A request that has been let in, with everything that the rest of the pipeline needs. */
export type Admitted = CheckedRequest & { readonly grant: Grant; readonly lifetime: Lifetime };

/** Decides what an ending costs, ends the grant with it, once, and tells the operator. */
export async function end(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  cause: EndingCause,
  { attempt, failure }: { attempt?: MeteredAttempt | undefined; failure?: UpstreamFailure } = {},
): Promise<Receipt> {
  const ending = decideEnding(endingFacts(admitted, cause, attempt));
  const ended = await admitted.grant.end(ending, attempt);
  report(dependencies, admitted, ended, failure?.class);
  return ended.receipt;
}

function endingFacts(
  { request, grant }: Admitted,
  cause: EndingCause,
  attempt: MeteredAttempt | undefined,
): EndingFacts {
  if (attempt === undefined) {
    return { cause, output: 'none', reported: false, worked: false, lengthOfBalance: false };
  }
  const { meter, candidate } = attempt;
  const output = meter.output();
  const hides = output === 'thinking' && request.reasoning === 'off';
  return {
    cause,
    output: output === 'none' ? 'none' : hides ? 'hidden' : 'visible',
    reported: meter.finish() !== undefined && meter.reported() !== undefined,
    worked: attempt.hasWorked(),
    lengthOfBalance: isBoundByBalance(grant, candidate) && meter.finish() === 'length',
  };
}

/** A fallback that cannot make as much as the balance pays for has been told its own bound. */
function isBoundByBalance({ cover }: Grant, { maxOutputTokens }: Candidate): boolean {
  return cover.lowered && maxOutputTokens >= cover.outputBound;
}

/** Why an answer that ended well ended. */
export function causeOfEnd(attempt: MeteredAttempt): EndingCause {
  return attempt.hasCut() ? 'balance' : 'finished';
}

export function causeOf({ inFlight }: GenerateDependencies, failure: UpstreamFailure): EndingCause {
  return inFlight.aborted() || failure.class === 'gateway' ? 'gateway' : 'upstream';
}
