// Ends a request: gathers the facts, asks `core/outcome.ts` for the outcome and ends the grant
// once. No other code decides the outcome of a request or its charge.

import type { UpstreamFailure } from '../core/failure.ts';
import type { Receipt } from '../core/generation.ts';
import { decideOutcome, type EndCause, type EndFacts } from '../core/outcome.ts';
import { type RequestFailure, requestFailure } from '../core/request-failure.ts';
import type { Candidate } from '../core/route.ts';
import { showsReasoning } from './answer-head.ts';
import type { Grant } from './grant.ts';
import type { Lifetime } from './lifetime.ts';
import type { MeteredAttempt } from './metered-attempt.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';
import { report } from './report.ts';

/** An admitted request with everything the rest of the pipeline needs. */
export type Admitted = {
  readonly checked: CheckedRequest;
  readonly grant: Grant;
  readonly lifetime: Lifetime;
};

type Ending = {
  readonly attempt?: MeteredAttempt | undefined;
  readonly failure?: UpstreamFailure;
  /** The client has received the headers of a stream. */
  readonly isSent?: true;
};

/** Decides the charge of an ending, ends the grant with it once, and reports it to the operator. */
export async function finish(
  dependencies: GenerateDependencies,
  admitted: Admitted,
  cause: EndCause,
  ending: Ending = {},
): Promise<Receipt> {
  const { failure } = ending;
  // Thinking that a timer ended is charged, also where no other attempt was made after it.
  const isOurs = cause === 'upstream' || cause === 'client';
  const attempt = ending.attempt ?? (isOurs ? admitted.grant.attempts.silent().at(-1) : undefined);
  const decision = decideOutcome(endFacts(admitted, cause, attempt));
  const ended = await admitted.grant.end(decision, attempt, failureOf(admitted, cause, ending));
  report(dependencies, admitted.checked, ended, failure?.class);
  return ended.receipt;
}

/** Absent unless the upstream or the gateway failed. */
function failureOf(
  { checked }: Admitted,
  cause: EndCause,
  { attempt, failure, isSent }: Ending,
): RequestFailure | undefined {
  if (cause !== 'upstream' && cause !== 'gateway') return undefined;
  const isBegun = outputOf(checked, attempt) === 'visible';
  const stage = isSent === undefined ? 'refused' : isBegun ? 'interrupted' : 'announced';
  return requestFailure(failure?.class ?? 'internal', stage);
}

/** What an attempt has generated, and whether its client sees that. */
export function outputOf(
  checked: CheckedRequest,
  attempt: MeteredAttempt | undefined,
): EndFacts['output'] {
  const output = attempt?.meter.output() ?? 'none';
  if (output === 'none') return 'none';
  return output === 'thinking' && !showsReasoning(checked) ? 'hidden' : 'visible';
}

function endFacts(
  { checked, grant }: Admitted,
  cause: EndCause,
  attempt: MeteredAttempt | undefined,
): EndFacts {
  if (attempt === undefined) {
    const nothing = { output: 'none', reported: false, worked: false, silent: false } as const;
    return { cause, ...nothing, lengthOfBalance: false };
  }
  const { meter, candidate } = attempt;
  return {
    cause,
    output: outputOf(checked, attempt),
    reported: meter.finish() !== undefined && meter.reported() !== undefined,
    worked: attempt.hasWorked(),
    silent: attempt.isSilent(),
    lengthOfBalance:
      meter.finish() === 'length' && !attempt.isLate() && isBoundByBalance(grant, candidate),
  };
}

/** A fallback with a lower maximum than the balance covers was sent that maximum instead. */
function isBoundByBalance({ cover }: Grant, { maxOutputTokens }: Candidate): boolean {
  return cover.lowered && maxOutputTokens >= cover.outputBound;
}

/** The reason for an answer's regular end. */
export function causeOfEnd(attempt: MeteredAttempt): EndCause {
  return attempt.hasCut() ? 'balance' : 'finished';
}

export function causeOf({ inFlight }: GenerateDependencies, failure: UpstreamFailure): EndCause {
  return inFlight.aborted() || failure.class === 'gateway' ? 'gateway' : 'upstream';
}
