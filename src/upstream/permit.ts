// The right to ask an upstream once: its result goes to the breakers and the credential, and
// the place at the gate is given back. `health.ts` grants it.

import type { Alert } from '../core/alert.ts';
import type { BreakersPass } from '../core/breakers.ts';
import { SHORT_DELAY_MS } from '../core/failover.ts';
import { exhaustion, FAILURES, type UpstreamFailure } from '../core/failure.ts';
import type { UpstreamCredential } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import type { Batch } from './attempt.ts';
import type { CredentialLease } from './credentials.ts';
import { isAgainst, type UpstreamNode } from './node.ts';

export type Permit = {
  readonly kind: 'permit';
  readonly credential: UpstreamCredential;
  /** Its first content has come. */
  readonly answered: () => void;
  /** Exactly what it was; later calls change nothing. `given_up`: the client left. */
  readonly end: (result: 'finished' | 'given_up' | UpstreamFailure) => void;
};

export function createPermit(granted: {
  readonly node: UpstreamNode;
  readonly candidate: Candidate;
  readonly lease: CredentialLease;
  readonly pass: BreakersPass;
  readonly repeated: boolean;
  readonly monotonic: () => number;
  readonly alert: (alert: Alert) => void;
}): Permit {
  const { node, candidate, lease, pass, repeated, monotonic, alert } = granted;
  const { upstream, model } = candidate;
  const { credentials, gate } = node;
  const breakers = node.breakersOf(candidate);
  let hasAnswered = false;
  let hasEnded = false;

  const answered = (): void => {
    if (hasAnswered || hasEnded) return;
    hasAnswered = true;
    breakers.answered(pass, monotonic());
    credentials.accepted(lease, monotonic());
  };
  const failed = (failure: UpstreamFailure): void => {
    const { coolDownMs } = upstream;
    const nowMs = monotonic();
    if (FAILURES[failure.class].fault === 'credential') {
      credentials.refused(lease, failure.status, nowMs);
    } else if (coolDownMs === 0) {
      // Without a cool-down the operator wants it to be asked after any failure.
    } else if (failure.class === 'rate_limited' && upstream.credentials.length > 1) {
      credentials.limited(lease, failure.retryAfterMs ?? coolDownMs, nowMs);
    } else if (isAgainst(upstream, failure)) {
      const { retryAfterMs = 0 } = failure;
      const opened = breakers.failed(pass, {
        nowMs,
        coolDownMs,
        afterContent: hasAnswered,
        repeated,
        ...(retryAfterMs > SHORT_DELAY_MS ? { retryAfterMs } : {}),
      });
      if (opened) alert({ kind: 'breaker_opened', upstream: upstream.id, model: model.slug });
    }
    node.settleDoubts(candidate, lease.credential);
  };

  return {
    kind: 'permit',
    credential: lease.credential,
    answered,
    end(result) {
      if (hasEnded) return;
      if (result === 'finished') answered();
      hasEnded = true;
      // The place first: an alert must not keep it.
      gate.exit(lease.use.account);
      if (result === 'finished') breakers.finished(pass);
      else {
        if (result !== 'given_up') failed(result);
        breakers.released(pass, monotonic());
      }
    },
  };
}

/**
 * To be told of every batch of an attempt: says to its permit that content has come, and how it ended.
 * Whoever stops an attempt ends its permit itself.
 */
export function watchPermit(permit: Permit): (batch: Batch) => void {
  let hasContent = false;
  return ({ events, end }) => {
    // An upstream that says itself that it had no room has not served well, whatever it had sent.
    const exhausted = exhaustion(events, false);
    if (!hasContent && events.some((event) => event.kind !== 'usage')) {
      hasContent = true;
      if (exhausted === undefined) permit.answered();
    }
    if (end !== undefined) permit.end(end === 'finished' ? (exhausted ?? end) : end);
  };
}
