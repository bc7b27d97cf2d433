// Tries the candidates of a request, best first, until one of them delivers. No content has reached the
// client while this runs, at most headers and heartbeats, so every failure may be retried:
// `core/failover.ts` decides how. The health of a candidate decides whether it may be tried at all.

import { withTimeout } from '../async/timeout.ts';
import {
  decideStep,
  isOfCredential,
  type Situation,
  type Step,
  tellingFailure,
} from '../core/failover.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationRequest } from '../core/generation.ts';
import type { Candidate } from '../core/route.ts';
import type { Attempt, AttemptOptions, Batch } from '../upstream/attempt.ts';
import type { AccountHealth, Asking, CandidateRefusal, Queued } from '../upstream/health.ts';
import type { Permit } from '../upstream/permit.ts';
import type { StartTimer } from '../upstream/timer.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Followed } from './lifetime.ts';
import { readUntil } from './reading.ts';

/** One that was asked, and the events that it began with. */
export type StartedAttempt<A extends Attempt> = { readonly attempt: A; readonly first: Batch };

export type Found<A extends Attempt> =
  /** The upstream that answers: everything that is left to do is to pass on what it says. */
  | ({ readonly kind: 'serving' } & StartedAttempt<A>)
  | {
      readonly kind: 'failed';
      readonly failure: UpstreamFailure;
      /** How long until a candidate may be asked again, where none may now. */
      readonly retryAfterMs?: number;
    }
  /** Nobody waits any more. The end of `first` says whether there is more to read. */
  | { readonly kind: 'cancelled'; readonly asked?: StartedAttempt<A> };

export type Routed<A extends Attempt> =
  | Found<A>
  /** Nothing was found in time: the answer begins, and the search goes on behind its heartbeats. */
  | { readonly kind: 'silent'; readonly found: Promise<Found<A>> };

type RouteLifetime = {
  /** The client has left, or the server ends what is still running. */
  readonly isOver: () => boolean;
  /** Takes what is to be cut short when that happens, in place of what it was given before. */
  readonly follow: (wait: Followed) => void;
};

type RouteOptions<A extends Attempt> = {
  /** Whoever makes them ends their permits, and stops them when the client leaves. */
  readonly startAttempt: (options: AttemptOptions, permit: Permit) => A;
  readonly health: AccountHealth;
  readonly candidates: readonly Candidate[];
  readonly request: GenerationRequest;
  readonly streamUpstream: boolean;
  /** `content`: serve from the first content event on. `end`: serve only a complete answer. */
  readonly until: 'content' | 'end';
  /** Whether an answer that the upstream cut for lack of capacity is one in the client's format. */
  readonly tellsExhaustion: boolean;
  /** After this silence the answer to a streamed request begins without its content. */
  readonly silentCommitMs: number;
  readonly lifetime: RouteLifetime;
  /** Where attempts that fail are noted. The one that serves is still under way. */
  readonly attempts: Pick<AttemptLog, 'add' | 'skip'>;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly random: () => number;
  readonly startTimer: StartTimer;
};

/** Of a whole answer the search is the answer: nothing is passed on before its end. */
export function route<A extends Attempt>(options: RouteOptions<A>): Promise<Routed<A>> {
  const found = new Search(options).run();
  return options.until === 'end' ? found : unlessSilent(found, options.silentCommitMs);
}

async function unlessSilent<A extends Attempt>(
  found: Promise<Found<A>>,
  silentCommitMs: number,
): Promise<Routed<A>> {
  return (await withTimeout(silentCommitMs, found)) ?? { kind: 'silent', found };
}

const FIRST: Asking = { kind: 'first' };
const REPEAT: Asking = { kind: 'repeat' };
const RECONNECT: Asking = { kind: 'reconnect' };
const NOBODY: UpstreamFailure = { class: 'unreachable', detail: 'no upstream serves this model' };
const NONE: readonly string[] = [];
const GIVEN_UP: UpstreamFailure = { class: 'cut', detail: 'the request was given up' };

class Search<A extends Attempt> {
  readonly #options: RouteOptions<A>;
  readonly #startedAt: number;
  readonly #deadlineMs: number;
  /** Those that are left once the first one has failed. */
  #waiting: readonly Candidate[];
  /** Attempts so far, and the models that they went to. */
  #count = 0;
  #tried: readonly string[] = NONE;

  constructor(options: RouteOptions<A>) {
    this.#options = options;
    this.#startedAt = options.monotonic();
    this.#deadlineMs = options.candidates[0]?.timeouts.totalMs ?? 0;
    this.#waiting = options.candidates;
  }

  async run(): Promise<Found<A>> {
    const { health, lifetime, attempts } = this.#options;
    let told: UpstreamFailure | undefined;
    let asking = FIRST;
    let candidate = this.#waiting[0];
    while (candidate !== undefined) {
      const entered = health.enter(candidate, asking);
      const entry = entered.kind === 'queued' ? await queue(entered, lifetime) : entered;
      if (lifetime.isOver()) return giveUp(entry);
      let failure: UpstreamFailure;
      if (entry.kind === 'refusal') {
        failure = entry.failure;
        attempts.skip(candidate, failure);
      } else {
        const attempt = this.#start(candidate, entry, asking === REPEAT || asking === RECONNECT);
        const first = await readUntil(attempt, this.#options);
        const { end } = first;
        if (lifetime.isOver()) {
          attempts.add(attempt, GIVEN_UP);
          return { kind: 'cancelled', asked: { attempt, first } };
        }
        if (end === undefined || end === 'finished') return { kind: 'serving', attempt, first };
        failure = end;
        attempts.add(attempt, failure);
        this.#tried = [...this.#tried, candidate.model.slug];
      }
      told = tellingFailure(told, failure);
      const used = entry.kind === 'permit' ? entry.credential.id : undefined;
      const again = asking.kind === 'first' ? againAs(candidate, failure, used) : REPEAT;
      if (asking.kind === 'first') this.#waiting = this.#waiting.slice(1);
      const step = this.#decide(candidate, asking, again, failure);
      if (step.kind === 'stop') break;
      if (step.kind !== 'again') {
        if (step.kind === 'next_model') this.#keepNewModels();
        candidate = this.#waiting[0];
        asking = FIRST;
        continue;
      }
      asking = again;
      if (step.afterMs > 0) await pause(step.afterMs, this.#options);
      if (lifetime.isOver()) return { kind: 'cancelled' };
    }
    return { kind: 'failed', failure: told ?? NOBODY, ...retryAfter(this.#options, this.#count) };
  }

  #keepNewModels(): void {
    this.#waiting = this.#waiting.filter((each) => this.#isNewModel(each));
  }

  #isNewModel({ model }: Candidate): boolean {
    return !this.#tried.includes(model.slug);
  }

  #start(candidate: Candidate, permit: Permit, newConnection: boolean): A {
    const leftMs = this.#startedAt + this.#deadlineMs - this.#options.monotonic();
    const bounded = this.#count === 0 ? candidate : boundTotal(candidate, leftMs);
    if (bounded !== candidate) permit.forgiveTotal();
    this.#count += 1;
    return start(this.#options, bounded, permit, newConnection);
  }

  #decide(candidate: Candidate, asking: Asking, again: Asking, failure: UpstreamFailure): Step {
    const { health, monotonic, lifetime, random } = this.#options;
    const situation: Situation = {
      attempts: this.#count,
      repeated: asking.kind !== 'first',
      hasOtherCredential: again.kind === 'credential',
      hasNext: this.#waiting.length > 0,
      hasNewModel: this.#waiting.some((each) => this.#isNewModel(each)),
      mayRepeat: true,
      elapsedMs: monotonic() - this.#startedAt,
      deadlineMs: this.#deadlineMs,
      cancelled: lifetime.isOver(),
      dice: random(),
    };
    const step = decideStep(failure, situation);
    if (step.kind !== 'again' || again.kind === 'credential') return step;
    // The budget is asked where something is to be taken from it, and nowhere else.
    if (health.takeRepeat(candidate)) return step;
    return decideStep(failure, { ...situation, mayRepeat: false });
  }
}

function giveUp(entry: Permit | CandidateRefusal): { readonly kind: 'cancelled' } {
  if (entry.kind === 'permit') entry.end('given_up');
  return { kind: 'cancelled' };
}

/** All attempts of a request share one deadline: a later one has what the earlier ones left of it. */
function boundTotal(candidate: Candidate, leftMs: number): Candidate {
  const { timeouts } = candidate;
  if (timeouts.totalMs <= leftMs) return candidate;
  return { ...candidate, timeouts: { ...timeouts, totalMs: Math.max(1, leftMs) } };
}

/** A permit of an attempt that could not be started would never be ended. */
function start<A extends Attempt>(
  { startAttempt, request, streamUpstream }: RouteOptions<A>,
  candidate: Candidate,
  permit: Permit,
  newConnection: boolean,
): A {
  const { credential } = permit;
  const { maxOutputTokens } = candidate;
  try {
    return startAttempt(
      { candidate, credential, request, maxOutputTokens, stream: streamUpstream, newConnection },
      permit,
    );
  } catch (error) {
    permit.end('given_up');
    throw error;
  }
}

/** As what a candidate is asked a second time, if it is: with another credential, where it has one. */
function againAs(
  { upstream }: Candidate,
  failure: UpstreamFailure,
  used: string | undefined,
): Asking {
  if (failure.onKeptConnection === true) return RECONNECT;
  const isOther = upstream.credentials.length > 1 && isOfCredential(failure.class);
  return isOther && used !== undefined ? { kind: 'credential', avoid: used } : REPEAT;
}

function queue(
  { entry, leave }: Queued,
  lifetime: RouteLifetime,
): Promise<Permit | CandidateRefusal> {
  lifetime.follow({ abort: leave });
  return entry;
}

/** Ends early when nobody waits any more. */
function pause(
  afterMs: number,
  { startTimer, lifetime }: Pick<RouteOptions<Attempt>, 'startTimer' | 'lifetime'>,
): Promise<void> {
  return new Promise((resolve) => {
    const stopTimer = startTimer(afterMs, resolve);
    lifetime.follow({
      abort() {
        stopTimer();
        resolve();
      },
    });
  });
}

/** What is worth telling: while one of the candidates may be asked, there is no reason to wait. */
function retryAfter(
  { health, candidates }: Pick<RouteOptions<Attempt>, 'health' | 'candidates'>,
  count: number,
): { readonly retryAfterMs?: number } {
  const leastMs = Math.min(...candidates.map((each) => health.waitMs(each)));
  // A queue that was full is not empty at once.
  const waitMs = count === 0 ? Math.max(leastMs, 1) : leastMs;
  return waitMs > 0 && Number.isFinite(waitMs) ? { retryAfterMs: waitMs } : {};
}
