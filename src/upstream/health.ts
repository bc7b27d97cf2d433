// How every upstream does, in one place: the router asks here before it asks an upstream, and says
// here what came of it. Joins the breakers, the credentials, the gate and the retry budget; what each
// of them does stands in its own file. In memory: a server that starts knows nothing bad of anybody.

import type { Alert } from '../core/alert.ts';
import { type Breaker, createBreaker, type Pass } from '../core/breaker.ts';
import { SHORT_DELAY_MS } from '../core/failover.ts';
import { FAILURES, type UpstreamFailure } from '../core/failure.ts';
import type { UpstreamState } from '../core/health.ts';
import type { Catalog, Credential, Upstream, UpstreamConcurrency } from '../core/model.ts';
import { createRetryBudget } from '../core/retry-budget.ts';
import type { Candidate } from '../core/route.ts';
import { createCredentials, type Lease } from './credentials.ts';
import { createGate } from './gate.ts';
import type { StartTimer } from './timer.ts';

/**
 * first       nobody has asked this candidate for the request yet
 * repeat      it has failed and is asked the same again; the retry budget has paid for it
 * reconnect   a repeat, but what had failed was a kept connection, which was counted as nothing
 * credential  one of its credentials has failed, and another one is used
 */
export type Asking =
  | { readonly kind: 'first' | 'repeat' | 'reconnect' }
  | { readonly kind: 'credential'; readonly avoid: string };

/** The right to ask a candidate once, with this credential. */
export type Permit = {
  readonly kind: 'permit';
  readonly credential: Credential;
  /** Its first content has come. */
  readonly answered: () => void;
  /** Exactly what it was; later calls change nothing. `given_up`: nobody wanted the rest. */
  readonly end: (result: 'finished' | 'given_up' | UpstreamFailure) => void;
};

/** The candidate is not to be asked now. */
export type Refusal = { readonly kind: 'refusal'; readonly failure: UpstreamFailure };

/** It will be said in a moment. Whoever leaves is refused; what was granted has to be ended. */
export type Queued = {
  readonly kind: 'queued';
  readonly entry: Promise<Permit | Refusal>;
  readonly leave: () => void;
};

export type Health = {
  readonly enter: (candidate: Candidate, asking: Asking) => Permit | Refusal | Queued;
  /** Takes one repetition from the retry budget of its upstream, or says that there is none. */
  readonly takeRepeat: (candidate: Candidate) => boolean;
  /** How long until it may be asked; 0 for now. */
  readonly waitMs: (candidate: Candidate) => number;
  /** Every upstream of the catalog, as operators see it. */
  readonly states: () => readonly UpstreamState[];
  /** Forgets what is held against an upstream, because an operator says that it is mended. */
  readonly reset: (upstream: string) => void;
};

export function createHealth(dependencies: {
  readonly catalog: () => Catalog;
  /** Unix milliseconds, for what people read. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly startTimer: StartTimer;
  readonly alert: (alert: Alert) => void;
  /** Threads that ask the same upstreams: each has its share of what may be in flight there. */
  readonly threads?: number;
}): Health {
  const { catalog, clock, monotonic, startTimer, alert, threads = 1 } = dependencies;
  const nodes = new Map<string, Node>();
  let known: Catalog | undefined;

  const nodeOf = (upstream: Upstream): Node => {
    let node = nodes.get(upstream.id);
    if (node === undefined) {
      node = createNode(placeOf(upstream), startTimer);
      nodes.set(upstream.id, node);
    }
    return node;
  };
  /**
   * What a new catalog no longer has is forgotten, once, and so is what was known of another place:
   * its refusals say nothing of this one. Requests under way keep what they have.
   */
  const follow = (current: Catalog): void => {
    if (current === known) return;
    known = current;
    const models = new Set(current.models.map(({ slug }) => slug));
    for (const [id, node] of nodes) {
      const upstream = current.upstreams.get(id);
      if (upstream === undefined || placeOf(upstream) !== node.place) nodes.delete(id);
      else node.credentials.keep(upstream);
      for (const slug of node.breakers.keys()) if (!models.has(slug)) node.breakers.delete(slug);
    }
  };

  /** The place at the gate is taken; a refusal gives it back. */
  const admit = (node: Node, candidate: Candidate, asking: Asking): Permit | Refusal => {
    const nowMs = monotonic();
    const avoid = asking.kind === 'credential' ? asking.avoid : undefined;
    const { affinity } = candidate;
    const lease = node.credentials.pick(candidate.upstream, nowMs, { avoid, affinity });
    const pass = lease === undefined ? undefined : node.breakerOf(candidate).enter(nowMs);
    if (lease !== undefined && pass !== undefined) {
      const repeated = asking.kind === 'repeat';
      return createPermit({ node, candidate, lease, pass, repeated, monotonic, alert });
    }
    node.gate.exit();
    if (lease === undefined) return refusal('each of its credentials is refused, or rests');
    node.credentials.released(lease);
    return refusal('it fails for this model, and is left alone');
  };

  return {
    enter(candidate, asking) {
      follow(catalog());
      const { upstream } = candidate;
      const node = nodeOf(upstream);
      const nowMs = monotonic();
      if (node.breakerOf(candidate).waitMs(nowMs) > 0) {
        return refusal('it fails for this model, and is left alone');
      }
      if (asking.kind === 'first') node.budget.note(nowMs);
      const place = node.gate.enter(shareOf(upstream.concurrency, threads));
      if (place === 'in') return admit(node, candidate, asking);
      if (place === 'full') return refusal('too many requests wait for it');
      const { isIn, leave } = place;
      const entry = isIn.then((is) =>
        is ? admit(node, candidate, asking) : refusal('no request under way there ended in time'),
      );
      return { kind: 'queued', entry, leave };
    },
    takeRepeat: ({ upstream }) => nodeOf(upstream).budget.take(monotonic()),
    waitMs(candidate) {
      const node = nodeOf(candidate.upstream);
      const nowMs = monotonic();
      return Math.max(
        node.breakerOf(candidate).waitMs(nowMs),
        node.credentials.waitMs(candidate.upstream, nowMs),
      );
    },
    reset(upstream) {
      const node = nodes.get(upstream);
      // Answers to earlier questions go to the breakers that were asked.
      node?.breakers.clear();
      node?.credentials.forget();
    },
    states() {
      const current = catalog();
      follow(current);
      const nowMs = monotonic();
      const unixMs = clock();
      const toUnixMs = (atMs: number): number => Math.round(unixMs + atMs - nowMs);
      return [...current.upstreams.values()].map((upstream) => {
        const node = nodeOf(upstream);
        const served = current.models.filter(({ servedBy }) =>
          servedBy.some((placement) => placement.upstream === upstream.id),
        );
        return {
          upstream: upstream.id,
          inFlight: node.gate.inFlight(),
          queued: node.gate.queued(),
          credentials: node.credentials.states(upstream, nowMs, toUnixMs),
          models: served.map(({ slug }) => {
            const breaker = node.breakers.get(slug);
            const state = breaker?.state(nowMs) ?? 'closed';
            const waitMs = state === 'open' ? (breaker?.waitMs(nowMs) ?? 0) : 0;
            const until = waitMs > 0 ? { untilMs: toUnixMs(nowMs + waitMs) } : {};
            return { model: slug, breaker: state, ...until };
          }),
        };
      });
    },
  };
}

/** What is known of one upstream. */
type Node = ReturnType<typeof createNode>;

function createNode(place: string, startTimer: StartTimer) {
  /** By the slug of the model that it serves. */
  const breakers = new Map<string, Breaker>();
  return {
    place,
    breakers,
    breakerOf({ model: { slug } }: Candidate): Breaker {
      let breaker = breakers.get(slug);
      if (breaker === undefined) {
        breaker = createBreaker();
        breakers.set(slug, breaker);
      }
      return breaker;
    },
    credentials: createCredentials(),
    gate: createGate(startTimer),
    budget: createRetryBudget(),
  };
}

/**
 * Whether a failure says nothing of the next question: an idle connection was closed, or a limit is
 * over in a moment. That is waited for, and to leave it alone would lock those out who wait.
 */
function isPassing({ class: kind, onKeptConnection, retryAfterMs }: UpstreamFailure): boolean {
  if (onKeptConnection === true) return true;
  return kind === 'rate_limited' && retryAfterMs !== undefined && retryAfterMs <= SHORT_DELAY_MS;
}

/** Where its questions go: an operator who mends that does not wait for what failed before. */
function placeOf(upstream: Upstream): string {
  return upstream.dialect === 'demo' ? '' : `${upstream.baseUrl} ${upstream.proxyUrl ?? ''}`;
}

function refusal(reason: string): Refusal {
  return {
    kind: 'refusal',
    failure: { class: 'no_capacity', detail: `the upstream was not asked: ${reason}` },
  };
}

function createPermit(granted: {
  readonly node: Node;
  readonly candidate: Candidate;
  readonly lease: Lease;
  readonly pass: Pass;
  readonly repeated: boolean;
  readonly monotonic: () => number;
  readonly alert: (alert: Alert) => void;
}): Permit {
  const { node, candidate, lease, pass, repeated, monotonic, alert } = granted;
  const { upstream, model } = candidate;
  const { credentials, gate } = node;
  const breaker = node.breakerOf(candidate);
  let hasAnswered = false;
  let hasEnded = false;

  const answered = (): void => {
    if (hasAnswered || hasEnded) return;
    hasAnswered = true;
    breaker.answered(pass, monotonic());
    credentials.accepted(lease);
  };
  const release = (): void => {
    breaker.released(pass, monotonic());
    credentials.released(lease);
  };
  const failed = (failure: UpstreamFailure): void => {
    const { coolDownMs } = upstream;
    const { fault } = FAILURES[failure.class];
    const nowMs = monotonic();
    if (fault === 'credential') {
      credentials.refused(lease, failure.status, nowMs);
    } else if (failure.class === 'rate_limited' && upstream.credentials.length > 1) {
      // Limits belong to keys.
      credentials.limited(lease, failure.retryAfterMs ?? coolDownMs, nowMs);
    } else if (fault === 'upstream' && !isPassing(failure)) {
      const { retryAfterMs = 0 } = failure;
      const opened = breaker.failed(pass, {
        nowMs,
        coolDownMs,
        afterContent: hasAnswered,
        repeated,
        ...(retryAfterMs > SHORT_DELAY_MS ? { retryAfterMs } : {}),
      });
      if (opened) alert({ kind: 'breaker_opened', upstream: upstream.id, model: model.slug });
    }
    release();
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
      gate.exit();
      if (result === 'finished') breaker.finished(pass);
      // Without a cool-down the operator wants it to be asked whatever it does.
      else if (result === 'given_up' || upstream.coolDownMs === 0) release();
      else failed(result);
    },
  };
}

/** At least one each, so that nobody who comes to the one thread is refused for the other's sake. */
function shareOf(concurrency: UpstreamConcurrency, threads: number): UpstreamConcurrency {
  if (threads === 1) return concurrency;
  const { maxInFlight, queueLength, queueMs } = concurrency;
  return {
    maxInFlight: Math.max(1, Math.floor(maxInFlight / threads)),
    queueLength: Math.ceil(queueLength / threads),
    queueMs,
  };
}
