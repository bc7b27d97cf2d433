// Tracks the health of every upstream. The router asks here before it calls an upstream, and
// reports the outcome here. Combines breakers, credentials, gate and retry budget, each in its own
// file. State is in memory: every upstream starts healthy.

import type { BreakersState } from '../core/breakers.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { UpstreamState } from '../core/health.ts';
import type { Catalog, Upstream } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import { createNode, type NodeDependencies, type UpstreamNode } from './node.ts';
import { Permit } from './permit.ts';

/**
 * first       the first attempt of the request at this candidate
 * repeat      a retry of the same candidate, paid by the retry budget
 * reconnect   a retry after a broken kept-alive connection, which did not count as a failure
 * credential  a retry with another credential after one failed
 */
export type Asking =
  | { readonly kind: 'first' | 'repeat' | 'reconnect' }
  | { readonly kind: 'credential'; readonly avoid: string };

/** The candidate must not be called now. */
export type CandidateRefusal = {
  readonly kind: 'refusal';
  readonly failure: UpstreamFailure;
  /** Only the account's own failures keep it out. */
  readonly own: boolean;
};

/** The decision is pending. Leaving refuses it; a granted permit has to be ended. */
export type Queued = {
  readonly kind: 'queued';
  readonly entry: Promise<Permit | CandidateRefusal>;
  readonly leave: () => void;
};

/** Health from the point of view of one account. */
export type AccountHealth = {
  readonly enter: (candidate: Candidate, asking: Asking) => Permit | CandidateRefusal | Queued;
  /** Takes one retry from the upstream's retry budget; false if none is left. */
  readonly takeRepeat: (candidate: Candidate) => boolean;
  /** The time until the candidate may be called; 0 for now. */
  readonly waitMs: (candidate: Candidate) => number;
};

export type Health = {
  readonly of: (account: string) => AccountHealth;
  /** Every upstream of the catalog, for operators. */
  readonly states: () => readonly UpstreamState[];
  /** Clears the failures of an upstream after an operator has repaired it. */
  readonly reset: (upstream: string) => void;
};

export function createHealth(
  dependencies: NodeDependencies & {
    readonly catalog: () => Catalog;
    /** Unix milliseconds, for display. */
    readonly clock: () => number;
  },
): Health {
  const { catalog, clock, monotonic } = dependencies;
  const nodes = new Map<string, UpstreamNode>();
  let known: Catalog | undefined;

  const nodeOf = (upstream: Upstream): UpstreamNode =>
    nodes.getOrInsertComputed(upstream.id, () => createNode(placeOf(upstream), dependencies));
  /**
   * Drops the state of upstreams that a new catalog removed or moved: failures at the old address
   * say nothing about the new one. Requests in progress keep theirs.
   */
  const follow = (current: Catalog): void => {
    if (current === known) return;
    known = current;
    const models = new Set(current.models.map(({ slug }) => slug));
    for (const [id, node] of nodes) {
      const upstream = current.upstreams.get(id);
      if (upstream === undefined || placeOf(upstream) !== node.place) nodes.delete(id);
      else node.credentials.keep(upstream);
      for (const [slug, { acceptance }] of node.breakers) {
        if (!models.has(slug) || acceptance.isRefused()) node.breakers.delete(slug);
        else acceptance.forget();
      }
    }
  };

  /** A place at the gate is taken; a refusal returns it. */
  const admit = (
    node: UpstreamNode,
    account: string,
    candidate: Candidate,
    asking: Asking,
    nowMs: number,
  ): Permit | CandidateRefusal => {
    const { upstream, upstreamModel, affinity } = candidate;
    const avoid = asking.kind === 'credential' ? asking.avoid : undefined;
    const user = { account, model: upstreamModel };
    const lease = node.credentials.pick(upstream, user, nowMs, avoid, affinity);
    const pass = lease === undefined ? undefined : node.breakersOf(candidate).enter(account, nowMs);
    if (lease !== undefined) node.settleDoubts(candidate, lease.credential);
    if (lease !== undefined && pass !== undefined) {
      return new Permit(node, candidate, lease, pass, asking.kind === 'repeat');
    }
    node.gate.exit(account);
    return lease === undefined ? refusal(NO_CREDENTIAL) : breakerOpen(node, account, candidate);
  };

  const admitLater = async (
    node: UpstreamNode,
    account: string,
    candidate: Candidate,
    asking: Asking,
    isIn: Promise<boolean>,
  ): Promise<Permit | CandidateRefusal> =>
    (await isIn)
      ? admit(node, account, candidate, asking, monotonic())
      : refusal('no place became free in time');

  const breakerOpen = (
    node: UpstreamNode,
    account: string,
    candidate: Candidate,
  ): CandidateRefusal =>
    refusal(BREAKER_OPEN, node.breakersOf(candidate).refusesAlone(account, monotonic()));

  class HealthOf implements AccountHealth {
    readonly #account: string;

    constructor(account: string) {
      this.#account = account;
    }

    enter(candidate: Candidate, asking: Asking): Permit | CandidateRefusal | Queued {
      follow(catalog());
      const { upstream } = candidate;
      const account = this.#account;
      const node = nodeOf(upstream);
      const nowMs = monotonic();
      const isOpen = node.breakersOf(candidate).waitMs(account, nowMs) > 0;
      if (isOpen) return breakerOpen(node, account, candidate);
      if (asking.kind === 'first') node.budget.note(account, nowMs);
      const place = node.gate.enter(account, upstream.concurrency);
      if (place === 'in') return admit(node, account, candidate, asking, nowMs);
      if (place === 'full') return refusal('its queue is full');
      const entry = admitLater(node, account, candidate, asking, place.isIn);
      return { kind: 'queued', entry, leave: place.leave };
    }

    takeRepeat({ upstream }: Candidate): boolean {
      return nodeOf(upstream).budget.take(this.#account, monotonic());
    }

    waitMs(candidate: Candidate): number {
      const { upstream, upstreamModel } = candidate;
      const account = this.#account;
      const node = nodeOf(upstream);
      const nowMs = monotonic();
      return Math.max(
        node.breakersOf(candidate).waitMs(account, nowMs),
        node.credentials.waitMs(upstream, { account, model: upstreamModel }, nowMs),
      );
    }
  }

  return {
    of: (account) => new HealthOf(account),
    reset(upstream) {
      const node = nodes.get(upstream);
      // Outcomes of earlier requests go to the old breakers.
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
            const breakers = node.breakers.get(slug);
            const { kind, waitMs } = breakers?.state(nowMs) ?? CLOSED;
            const until = kind === 'open' ? { untilMs: toUnixMs(nowMs + waitMs) } : {};
            const refuses = breakers?.acceptance.parameter(nowMs);
            // Where there is no cool-down, its breaker stays closed.
            const isRefused = breakers?.acceptance.isRefused() === true;
            const trouble = isRefused ? { trouble: 'failing' as const } : {};
            return { model: slug, breaker: kind, refuses, ...trouble, ...until };
          }),
        };
      });
    },
  };
}

/** The address of an upstream and its account there. Correcting them discards earlier failures. */
function placeOf(upstream: Upstream): string {
  if (upstream.dialect === 'demo') return '';
  const { baseUrl, proxyUrl = '', auth } = upstream;
  return `${baseUrl} ${proxyUrl} ${JSON.stringify(auth)}`;
}

const CLOSED: BreakersState = { kind: 'closed', waitMs: 0 };
const BREAKER_OPEN = 'its circuit breaker for this model is open';
const NO_CREDENTIAL = 'all of its credentials are refused or in cooldown';

function refusal(reason: string, own = false): CandidateRefusal {
  return {
    kind: 'refusal',
    own,
    failure: { class: 'no_capacity', detail: `the upstream was not called: ${reason}` },
  };
}
