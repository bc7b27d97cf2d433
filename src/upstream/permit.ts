// The right to call an upstream once. Ending it reports the result to the breakers and the
// credential and returns the place at the gate. `health.ts` grants it.

import type { Awaitable } from '../async/awaitable.ts';
import type { Breakers, BreakersPass } from '../core/breakers.ts';
import { SHORT_DELAY_MS } from '../core/failover.ts';
import { exhaustion, FAILURES, saidWords, type UpstreamFailure } from '../core/failure.ts';
import type { UpstreamCredential } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import type { Batch } from './attempt.ts';
import { isAnswer } from './content.ts';
import type { CredentialLease } from './credentials.ts';
import { isAgainst, isRefusal, type UpstreamNode } from './node.ts';

export class Permit {
  readonly kind = 'permit';
  readonly #node: UpstreamNode;
  readonly #candidate: Candidate;
  readonly #lease: CredentialLease;
  readonly #breakers: Breakers;
  readonly #pass: BreakersPass;
  readonly #isRepeat: boolean;
  #hasAnswered = false;
  #hasEnded = false;
  #forgivesTotal = false;
  #isOurs: Awaitable<boolean> = false;

  constructor(
    node: UpstreamNode,
    candidate: Candidate,
    lease: CredentialLease,
    pass: BreakersPass,
    isRepeat: boolean,
  ) {
    this.#node = node;
    this.#candidate = candidate;
    this.#lease = lease;
    this.#breakers = node.breakersOf(candidate);
    this.#pass = pass;
    this.#isRepeat = isRepeat;
  }

  get credential(): UpstreamCredential {
    return this.#lease.credential;
  }

  /** The attempt only has the time that earlier ones left, so a timeout proves nothing. */
  forgiveTotal(): void {
    this.#forgivesTotal = true;
  }

  /** Whether a dearer model may replace this one, whose attempt has failed. */
  takeDearer(): boolean {
    if (this.#breakers.takeDearer(this.#pass.account, this.#node.monotonic())) return true;
    this.#node.settleDoubts(this.#candidate, this.#lease.credential);
    return false;
  }

  /**
   * Takes every batch of the attempt and reports content and the end. A caller that aborts the
   * attempt ends the permit itself.
   */
  see({ events, end }: Batch): void {
    // An upstream that reports a lack of capacity has failed, even if it sent content before.
    const exhausted = exhaustion(events, false);
    if (!this.#hasAnswered && exhausted === undefined && events.some(isAnswer)) this.answered();
    if (end !== undefined) this.end(end === 'finished' ? (exhausted ?? end) : end);
  }

  /** A refusal that is the catalog's fault is none of the caller's; a probe may have to tell. */
  async attributed(failure: UpstreamFailure): Promise<UpstreamFailure> {
    if (failure.class !== 'bad_request' || !(await this.#isOurs)) return failure;
    return { ...failure, class: 'mismatch' };
  }

  /** The first content has arrived. */
  answered(): void {
    if (this.#hasAnswered || this.#hasEnded) return;
    this.#hasAnswered = true;
    const nowMs = this.#node.monotonic();
    this.#breakers.answered(this.#pass, nowMs);
    this.#node.credentials.accepted(this.#lease, nowMs);
  }

  /** Reports the result once; later calls have no effect. `given_up`: the client disconnected. */
  end(result: 'finished' | 'given_up' | UpstreamFailure): void {
    if (this.#hasEnded) return;
    if (result === 'finished') this.answered();
    this.#hasEnded = true;
    // Free the place first, so that raising an alert does not delay it.
    this.#node.gate.exit(this.#lease.use.account);
    if (result === 'finished') this.#breakers.finished(this.#pass);
    else {
      if (result !== 'given_up' && !this.#forgives(result)) this.#failed(result);
      this.#breakers.released(this.#pass, this.#node.monotonic());
    }
  }

  /** An answer that outlasts its time is long; a slow upstream has other timers. */
  #forgives({ phase }: UpstreamFailure): boolean {
    return phase === 'total' && (this.#forgivesTotal || this.#hasAnswered);
  }

  #failed(failure: UpstreamFailure): void {
    const { upstream, model } = this.#candidate;
    const { credentials, monotonic, alert } = this.#node;
    const { coolDownMs } = upstream;
    const nowMs = monotonic();
    if (isRefusal(failure)) {
      this.#isOurs = this.#node.blame(this.#candidate, this.#lease.credential);
      const { chosen } = failure;
      if (chosen !== undefined && this.#breakers.acceptance.names(chosen, nowMs)) {
        const words = saidWords(failure);
        const place = { upstream: upstream.id, model: model.slug };
        alert({ kind: 'parameter_refused', ...place, parameter: chosen, said: words });
      }
    }
    if (FAILURES[failure.class].fault === 'credential') {
      credentials.refused(this.#lease, failure.status, nowMs);
    } else if (coolDownMs === 0) {
      // With a zero cool-down, the operator wants it to be called despite failures.
    } else if (failure.class === 'rate_limited' && upstream.credentials.length > 1) {
      credentials.limited(this.#lease, failure.retryAfterMs ?? coolDownMs, nowMs);
    } else if (isAgainst(upstream, failure)) {
      const { retryAfterMs = 0 } = failure;
      this.#breakers.failed(this.#pass, {
        nowMs,
        coolDownMs,
        afterContent: this.#hasAnswered,
        repeated: this.#isRepeat,
        ...(retryAfterMs > SHORT_DELAY_MS ? { retryAfterMs } : {}),
      });
    }
    this.#node.settleDoubts(this.#candidate, this.#lease.credential);
  }
}
