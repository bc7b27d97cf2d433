// How a request with a grant ended, and what it is charged: five outcomes with one rule each.
// Called once at the end of a request. No other code decides what an ending costs.

import type { Outcome } from './generation.ts';

/**
 * Why the answer ended.
 *
 * finished   the upstream reported a complete answer
 * balance    the gateway cut it because the balance could not cover more tokens
 * client     the client disconnected before its answer was complete
 * upstream   the upstream failed, and no other one could take over
 * gateway    the gateway failed: it was stopping, or could not continue
 */
export type EndCause = 'finished' | 'balance' | 'client' | 'upstream' | 'gateway';

export type EndFacts = {
  readonly cause: EndCause;
  /** What the upstream generated: `hidden` is thinking alone that this client does not receive. */
  readonly output: 'none' | 'hidden' | 'visible';
  /**
   * The upstream finished and reported its usage, whether or not the client was still connected.
   */
  readonly reported: boolean;
  /** The upstream received the request and did not fail by itself. */
  readonly worked: boolean;
  /** A timer ended thinking that no client saw. */
  readonly silent: boolean;
  /** The upstream stopped for length, at a bound that the balance had lowered. */
  readonly lengthOfBalance: boolean;
};

/**
 * nothing    the hold is released
 * delivered  our own count of what the client sees of it, from the hold alone
 * counted    our own count of what was generated, and what was made unseen, from the hold alone
 * reported   the upstream's report if it is sane, else our own count; amounts above the hold
 *            are taken from the available balance, down to zero
 */
export type ChargeRule = 'nothing' | 'delivered' | 'counted' | 'reported';

export type OutcomeDecision = { readonly outcome: Outcome; readonly charge: ChargeRule };

/** Decides the outcome of a request and its charge rule. */
export function decideOutcome(facts: EndFacts): OutcomeDecision {
  const { cause, output, reported, worked, silent, lengthOfBalance } = facts;
  switch (cause) {
    case 'finished':
      // An empty answer with a finish reason is complete: its prompt has been read.
      return { outcome: lengthOfBalance ? 'stopped_balance' : 'completed', charge: 'reported' };
    case 'balance':
      return { outcome: 'stopped_balance', charge: reported ? 'reported' : 'counted' };
    case 'client':
      // Disconnecting is never cheaper than staying: the output was generated and the prompt was
      // read.
      return {
        outcome: 'client_cancelled',
        charge: chargeLeft(output, reported, worked || silent),
      };
    case 'upstream':
      return { outcome: 'upstream_failed', charge: silent ? 'counted' : chargeDelivered(output) };
    case 'gateway':
      return { outcome: 'gateway_failed', charge: chargeDelivered(output) };
  }
}

function chargeLeft(output: EndFacts['output'], reported: boolean, worked: boolean): ChargeRule {
  if (reported) return 'reported';
  return worked ? 'counted' : chargeDelivered(output);
}

/** A client that received nothing of a failed answer pays nothing for it. */
function chargeDelivered(output: EndFacts['output']): ChargeRule {
  return output === 'visible' ? 'delivered' : 'nothing';
}
