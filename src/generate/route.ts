// Tries the candidates of a request, best first, until one delivers. The client has received no
// content at this point, at most headers and heartbeats, so every failure may be retried;
// `core/failover.ts` decides how. Health decides whether a candidate may be tried at all.

import {
  decideStep,
  isOfCredential,
  type Situation,
  type Step,
  tellingFailure,
} from '../core/failover.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationRequest } from '../core/generation.ts';
import { mayHideThinking } from '../core/hidden.ts';
import type { Candidate } from '../core/route.ts';
import type { Attempt, AttemptOptions, Batch } from '../upstream/attempt.ts';
import type { AccountHealth, Asking } from '../upstream/health.ts';
import type { Permit } from '../upstream/permit.ts';
import type { StartTimer } from '../upstream/timer.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Lifetime } from './lifetime.ts';
import { readUntil, type Until } from './reading.ts';
import { pause, queue } from './waits.ts';

/** An attempt that was started, and its first events. */
export type StartedAttempt<A extends Attempt> = { readonly attempt: A; readonly first: Batch };

export type Found<A extends Attempt> =
  /** The upstream answers. What remains is to pass on its events. */
  | ({ readonly kind: 'serving' } & StartedAttempt<A>)
  | {
      readonly kind: 'failed';
      readonly failure: UpstreamFailure;
      /** How long until a candidate is available, if none is now. */
      readonly retryAfterMs?: number;
    }
  /**
   * The client disconnected or the server is stopping. The end of `first` says whether there is
   * more to read.
   */
  | { readonly kind: 'cancelled'; readonly asked?: StartedAttempt<A> };

export type Routed<A extends Attempt> =
  | Found<A>
  /**
   * No upstream answered in time. The response begins, and the search continues behind heartbeats.
   */
  | { readonly kind: 'silent'; readonly found: Promise<Found<A>> };

type RouteLifetime = Pick<Lifetime, 'isOver' | 'follow'>;

type RouteOptions<A extends Attempt> = Until & {
  /**
   * The callback ends the permit of each attempt and stops the attempt when the client disconnects.
   */
  readonly startAttempt: (options: AttemptOptions, permit: Permit) => A;
  readonly health: AccountHealth;
  readonly candidates: readonly Candidate[];
  readonly request: GenerationRequest;
  /** Our count of the prompt. */
  readonly promptTokens: number;
  readonly streamUpstream: boolean;
  /** After this silence a streamed response begins without content. */
  readonly silentCommitMs: number;
  readonly lifetime: RouteLifetime;
  /** Where failed attempts are recorded. The serving one is still in progress. */
  readonly attempts: Pick<AttemptLog, 'add' | 'skip'>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  readonly random: () => number;
  readonly startTimer: StartTimer;
  /** Up to a sweep late. */
  readonly startDeadline: StartTimer;
};

/** For a whole answer the search reads the complete answer: nothing is passed on before its end. */
export function route<A extends Attempt>(options: RouteOptions<A>): Promise<Routed<A>> {
  const found = new Search(options).run();
  return options.until === 'end' ? found : unlessSilent(found, options);
}

function unlessSilent<A extends Attempt>(
  found: Promise<Found<A>>,
  { silentCommitMs, startDeadline }: Pick<RouteOptions<A>, 'silentCommitMs' | 'startDeadline'>,
): Promise<Routed<A>> {
  return new Promise((resolve, reject) => {
    const stop = startDeadline(silentCommitMs, () => resolve({ kind: 'silent', found }));
    found.then(resolve, reject).then(stop);
  });
}

const FIRST: Asking = { kind: 'first' };
const REPEAT: Asking = { kind: 'repeat' };
const RECONNECT: Asking = { kind: 'reconnect' };
const NO_UPSTREAM: UpstreamFailure = {
  class: 'unreachable',
  detail: 'no upstream serves this model',
};
const GIVEN_UP: UpstreamFailure = { class: 'cut', detail: 'the request was given up' };

class Search<A extends Attempt> {
  readonly #options: RouteOptions<A>;
  readonly #startedAt: number;
  readonly #deadlineMs: number;
  /** The candidates left after the first one failed. */
  #waiting: readonly Candidate[];
  /** Attempts so far, and the models they used. */
  #count = 0;
  #tried: readonly string[] = [];
  /** Attempts that may have thought until a timer ended them. After two no other one is made. */
  #silences = 0;
  #isDearerDropped = false;

  constructor(options: RouteOptions<A>) {
    this.#options = options;
    this.#startedAt = options.monotonic();
    this.#deadlineMs = options.candidates[0]?.timeouts.totalMs ?? 0;
    this.#waiting = options.candidates;
  }

  async run(): Promise<Found<A>> {
    const { health, lifetime, attempts } = this.#options;
    let reported: UpstreamFailure | undefined;
    let asking = FIRST;
    let candidate = this.#waiting[0];
    let isSupported = false;
    while (candidate !== undefined) {
      const entered = health.enter(candidate, asking);
      const entry = entered.kind === 'queued' ? await queue(entered, lifetime) : entered;
      if (lifetime.isOver()) {
        if (entry.kind === 'permit') entry.end('given_up');
        return { kind: 'cancelled' };
      }
      let failure: UpstreamFailure;
      if (entry.kind === 'refusal') {
        failure = entry.failure;
        attempts.skip(candidate, failure);
        if (entry.own) this.#dropDearer();
      } else {
        const attempt = this.#start(candidate, entry, asking === REPEAT || asking === RECONNECT);
        const first = await readUntil(attempt, this.#options);
        const { end } = first;
        if (lifetime.isOver()) {
          attempts.add(attempt, GIVEN_UP);
          return { kind: 'cancelled', asked: { attempt, first } };
        }
        if (end === undefined || end === 'finished') return { kind: 'serving', attempt, first };
        failure = await entry.attributed(end);
        attempts.add(attempt, failure);
        if (isSilent(failure, candidate)) this.#silences += 1;
        this.#tried = [...this.#tried, candidate.model.slug];
      }
      reported = tellingFailure(reported, failure);
      if (this.#silences === 2) break;
      const used = entry.kind === 'permit' ? entry.credential.id : undefined;
      const again = asking.kind === 'first' ? againAs(candidate, failure, used) : REPEAT;
      if (asking.kind === 'first') this.#waiting = this.#waiting.slice(1);
      // Fallbacks are for outages, at the lower price. A request that no upstream of its model can
      // express would choose a dearer model each time.
      isSupported ||= candidate.fallback !== 'none' || failure.class !== 'unsupported';
      if (!isSupported && !this.#hasSameModel(candidate)) break;
      let step = this.#decide(candidate, asking, again, failure);
      if (step.kind === 'next_model') {
        this.#waiting = this.#waiting.filter((each) => this.#isNewModel(each));
      }
      if (entry.kind === 'permit' && this.#isRise(candidate, step) && !entry.takeDearer()) {
        this.#dropDearer();
        step = this.#decide(candidate, asking, again, failure);
      }
      if (step.kind === 'stop') break;
      if (step.kind !== 'again') {
        candidate = this.#waiting[0];
        asking = FIRST;
        continue;
      }
      asking = again;
      if (step.afterMs > 0) await pause(step.afterMs, this.#options);
      if (lifetime.isOver()) return { kind: 'cancelled' };
    }
    return {
      kind: 'failed',
      failure: reported ?? NO_UPSTREAM,
      ...retryAfter(this.#options, this.#count, this.#isDearerDropped),
    };
  }

  /** Whether the step leads to a dearer model. */
  #isRise(candidate: Candidate, { kind }: Step): boolean {
    const [next] = this.#waiting;
    if (kind === 'again' || kind === 'stop' || next === undefined) return false;
    return isDearer(next) && !isDearer(candidate);
  }

  /**
   * A fallback costs the customer the lower price, so the account's own failures must not choose a
   * dearer one (decision 0091).
   */
  #dropDearer(): void {
    this.#isDearerDropped = true;
    this.#waiting = this.#waiting.filter((each) => !isDearer(each));
  }

  #hasSameModel({ model }: Candidate): boolean {
    return this.#waiting.some((each) => each.model.slug === model.slug);
  }

  #isNewModel({ model }: Candidate): boolean {
    return !this.#tried.includes(model.slug);
  }

  /** Releases the permit if the attempt could not be started, since no attempt would end it. */
  #start(asked: Candidate, permit: Permit, newConnection: boolean): A {
    const { startAttempt, request, promptTokens, streamUpstream: stream } = this.#options;
    const candidate =
      this.#count === 0 ? asked : boundTotal(asked, this.#deadlineMs - this.#elapsedMs());
    if (candidate !== asked) permit.forgiveTotal();
    this.#count += 1;
    const { credential } = permit;
    const { maxOutputTokens } = candidate;
    try {
      return startAttempt(
        { candidate, credential, request, promptTokens, maxOutputTokens, stream, newConnection },
        permit,
      );
    } catch (error) {
      permit.end('given_up');
      throw error;
    }
  }

  #elapsedMs(): number {
    return this.#options.monotonic() - this.#startedAt;
  }

  #decide(candidate: Candidate, asking: Asking, again: Asking, failure: UpstreamFailure): Step {
    const { health, lifetime, random } = this.#options;
    const situation: Situation = {
      attempts: this.#count,
      repeated: asking.kind !== 'first',
      hasOtherCredential: again.kind === 'credential',
      hasNext: this.#waiting.length > 0,
      hasNewModel: this.#waiting.some((each) => this.#isNewModel(each)),
      mayRepeat: true,
      elapsedMs: this.#elapsedMs(),
      deadlineMs: this.#deadlineMs,
      cancelled: lifetime.isOver(),
      dice: random(),
    };
    const step = decideStep(failure, situation);
    if (step.kind !== 'again' || again.kind === 'credential') return step;
    // The retry budget is consulted only here, where a repeat would use it.
    if (health.takeRepeat(candidate)) return step;
    return decideStep(failure, { ...situation, mayRepeat: false });
  }
}

/** The upstream may have thought for all of the time that it was silent. */
function isSilent({ class: how, phase }: UpstreamFailure, candidate: Candidate): boolean {
  return how === 'timeout' && phase === 'first_content' && mayHideThinking(candidate);
}

function isDearer({ fallback }: Candidate): boolean {
  return fallback === 'dearer';
}

/** All attempts of a request share one deadline: each gets the time that the earlier ones left. */
function boundTotal(candidate: Candidate, leftMs: number): Candidate {
  const { timeouts } = candidate;
  if (timeouts.totalMs <= leftMs) return candidate;
  return { ...candidate, timeouts: { ...timeouts, totalMs: Math.max(1, leftMs) } };
}

/** The candidate for a retry of the same upstream, with another credential if it has one. */
function againAs(
  { upstream }: Candidate,
  failure: UpstreamFailure,
  used: string | undefined,
): Asking {
  if (failure.onKeptConnection === true) return RECONNECT;
  const isOther = upstream.credentials.length > 1 && isOfCredential(failure.class);
  return isOther && used !== undefined ? { kind: 'credential', avoid: used } : REPEAT;
}

/** The wait to report to the client. While any candidate is available there is no wait. */
function retryAfter(
  { health, candidates }: Pick<RouteOptions<Attempt>, 'health' | 'candidates'>,
  count: number,
  isDearerDropped: boolean,
): { readonly retryAfterMs?: number } {
  const open = isDearerDropped ? candidates.filter((each) => !isDearer(each)) : candidates;
  const leastMs = Math.min(...open.map((each) => health.waitMs(each)));
  // A full queue does not empty immediately.
  const waitMs = count === 0 ? Math.max(leastMs, 1) : leastMs;
  return waitMs > 0 && Number.isFinite(waitMs) ? { retryAfterMs: waitMs } : {};
}
