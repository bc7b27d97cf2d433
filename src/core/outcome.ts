// How a request that had a grant ended, and what is charged for it: five outcomes, one rule each.
// Called once at the end of a request. Nobody else decides what an ending costs.

import type { Outcome } from './generation.ts';

/**
 * Why nothing more came.
 *
 * finished   the upstream said that its answer was complete
 * balance    the gateway stopped it, because the next tokens could not be paid for
 * client     the client left before its answer was complete
 * upstream   the upstream failed, and no other one could take its place
 * gateway    the gateway failed: it was stopping, or could not go on
 */
export type EndCause = 'finished' | 'balance' | 'client' | 'upstream' | 'gateway';

export type EndFacts = {
  readonly cause: EndCause;
  /** What the upstream made: `hidden` is thinking alone, which this client does not get to see. */
  readonly output: 'none' | 'hidden' | 'visible';
  /** The upstream came to its end and reported its usage, whether or not its client was there. */
  readonly reported: boolean;
  /** The upstream had the request, and did not fail by itself. */
  readonly worked: boolean;
  /** The upstream stopped for length, at a bound that had been lowered to what the balance paid. */
  readonly lengthOfBalance: boolean;
};

/**
 * nothing    the hold is released
 * counted    our own count, from the hold alone
 * reported   what the upstream reports as far as it is sane, else our own count; above the hold
 *            from the available balance, down to zero
 */
export type ChargeRule = 'nothing' | 'counted' | 'reported';

export type OutcomeDecision = { readonly outcome: Outcome; readonly charge: ChargeRule };

/** Names how a request ended, and by which rule it is charged. */
export function decideOutcome(facts: EndFacts): OutcomeDecision {
  const { cause, output, reported, worked, lengthOfBalance } = facts;
  switch (cause) {
    case 'finished':
      // An empty answer with a finish reason is an answer: its prompt has been read.
      return { outcome: lengthOfBalance ? 'stopped_balance' : 'completed', charge: 'reported' };
    case 'balance':
      return { outcome: 'stopped_balance', charge: 'counted' };
    case 'client':
      // Leaving is never cheaper than staying: what was made is paid for, and the prompt was read.
      return { outcome: 'client_cancelled', charge: chargeLeft(output, reported, worked) };
    case 'upstream':
      return { outcome: 'upstream_failed', charge: chargeDelivered(output) };
    case 'gateway':
      return { outcome: 'gateway_failed', charge: chargeDelivered(output) };
  }
}

function chargeLeft(output: EndFacts['output'], reported: boolean, worked: boolean): ChargeRule {
  if (reported) return 'reported';
  return worked ? 'counted' : chargeDelivered(output);
}

/** Who saw nothing of an answer that failed pays nothing for it. */
function chargeDelivered(output: EndFacts['output']): ChargeRule {
  return output === 'visible' ? 'counted' : 'nothing';
}
