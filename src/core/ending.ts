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
export type EndingCause = 'finished' | 'balance' | 'client' | 'upstream' | 'gateway';

export type EndingFacts = {
  readonly cause: EndingCause;
  /** What the upstream made: `hidden` is thinking alone, which this client does not get to see. */
  readonly output: 'none' | 'hidden' | 'visible';
  /** The upstream came to its end and reported its usage, whoever was still listening. */
  readonly reported: boolean;
  /** The upstream stopped for length, at a bound that had been lowered to what the balance paid. */
  readonly lengthOfBalance: boolean;
};

/**
 * nothing    the hold is released
 * counted    our own count, from the hold alone
 * reported   what the upstream reports as far as it is sane, else our own count; above the hold
 *            from the available balance, down to zero
 * drained    like `reported`, but from the hold alone: nobody is there any more
 */
export type ChargeRule = 'nothing' | 'counted' | 'reported' | 'drained';

export type Ending = { readonly outcome: Outcome; readonly charge: ChargeRule };

/** The one rule of each outcome (design sections 4 and 5). */
export function decideEnding({ cause, output, reported, lengthOfBalance }: EndingFacts): Ending {
  switch (cause) {
    case 'finished':
      // An empty answer with a finish reason is an answer: its prompt has been read.
      return { outcome: lengthOfBalance ? 'stopped_balance' : 'completed', charge: 'reported' };
    case 'balance':
      return { outcome: 'stopped_balance', charge: 'counted' };
    case 'client':
      // What was made for a client is paid for, whether it was there to read it or not.
      if (reported) return { outcome: 'client_cancelled', charge: 'drained' };
      return { outcome: 'client_cancelled', charge: output === 'none' ? 'nothing' : 'counted' };
    case 'upstream':
      return { outcome: 'upstream_failed', charge: chargeDelivered(output) };
    case 'gateway':
      return { outcome: 'gateway_failed', charge: chargeDelivered(output) };
  }
}

/** Who saw nothing of an answer that failed pays nothing for it. */
function chargeDelivered(output: EndingFacts['output']): ChargeRule {
  return output === 'visible' ? 'counted' : 'nothing';
}
