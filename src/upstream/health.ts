// How every upstream does, in one place: the router asks here before it asks an upstream, and says
// here what came of it. Joins the breakers, the credentials, the gate and the retry budget; what each
// of them does stands in its own file. State is in memory: every upstream starts healthy.

import type { BreakersState } from '../core/breakers.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { UpstreamState } from '../core/health.ts';
import type { Catalog, Upstream } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import { createNode, type NodeDependencies, type UpstreamNode } from './node.ts';
import { Permit } from './permit.ts';

/**
 * first       nobody has asked this candidate for the request yet
 * repeat      it has failed and is asked the same again; the retry budget has paid for it
 * reconnect   a repeat, but what had failed was a kept connection, which was counted as nothing
 * credential  one of its credentials has failed, and another one is used
 */
export type Asking =
  | { readonly kind: 'first' | 'repeat' | 'reconnect' }
  | { readonly kind: 'credential'; readonly avoid: string };

/** The candidate is not to be asked now. */
export type CandidateRefusal = { readonly kind: 'refusal'; readonly failure: UpstreamFailure };

/** It will be said in a moment. Whoever leaves is refused; what was granted has to be ended. */
export type Queued = {
  readonly kind: 'queued';
  readonly entry: Promise<Permit | CandidateRefusal>;
  readonly leave: () => void;
};

/** What one account may ask. */
export type AccountHealth = {
  readonly enter: (candidate: Candidate, asking: Asking) => Permit | CandidateRefusal | Queued;
  /** Takes one repetition from the retry budget of its upstream, or says that there is none. */
  readonly takeRepeat: (candidate: Candidate) => boolean;
  /** How long until it may be asked; 0 for now. */
  readonly waitMs: (candidate: Candidate) => number;
};

export type Health = {
  readonly of: (account: string) => AccountHealth;
  /** Every upstream of the catalog, as operators see it. */
  readonly states: () => readonly UpstreamState[];
  /** Forgets what is held against an upstream, because an operator says that it is mended. */
  readonly reset: (upstream: string) => void;
};

export function createHealth(
  dependencies: NodeDependencies & {
    readonly catalog: () => Catalog;
    /** Unix milliseconds, for what people read. */
    readonly clock: () => number;
  },
): Health {
  const { catalog, clock, monotonic } = dependencies;
  const nodes = new Map<string, UpstreamNode>();
  let known: Catalog | undefined;

  const nodeOf = (upstream: Upstream): UpstreamNode => {
    let node = nodes.get(upstream.id);
    if (node === undefined) {
      node = createNode(placeOf(upstream), dependencies);
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
  const admit = (
    node: UpstreamNode,
    account: string,
    candidate: Candidate,
    asking: Asking,
  ): Permit | CandidateRefusal => {
    const nowMs = monotonic();
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
    return refusal(lease === undefined ? NO_CREDENTIAL : LEFT_ALONE);
  };

  const admitLater = async (
    node: UpstreamNode,
    account: string,
    candidate: Candidate,
    asking: Asking,
    isIn: Promise<boolean>,
  ): Promise<Permit | CandidateRefusal> =>
    (await isIn)
      ? admit(node, account, candidate, asking)
      : refusal('no request under way there ended in time');

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
      if (node.breakersOf(candidate).waitMs(account, nowMs) > 0) return refusal(LEFT_ALONE);
      if (asking.kind === 'first') node.budget.note(account, nowMs);
      const place = node.gate.enter(account, upstream.concurrency);
      if (place === 'in') return admit(node, account, candidate, asking);
      if (place === 'full') return refusal('too many requests wait for it');
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
            const { kind, waitMs } = node.breakers.get(slug)?.state(nowMs) ?? CLOSED;
            const until = kind === 'open' ? { untilMs: toUnixMs(nowMs + waitMs) } : {};
            return { model: slug, breaker: kind, ...until };
          }),
        };
      });
    },
  };
}

/** Where its questions go: an operator who mends that does not wait for what failed before. */
function placeOf(upstream: Upstream): string {
  return upstream.dialect === 'demo' ? '' : `${upstream.baseUrl} ${upstream.proxyUrl ?? ''}`;
}

const CLOSED: BreakersState = { kind: 'closed', waitMs: 0 };
const LEFT_ALONE = 'it fails for this model, and is left alone';
const NO_CREDENTIAL = 'each of its credentials is refused, or rests';

function refusal(reason: string): CandidateRefusal {
  return {
    kind: 'refusal',
    failure: { class: 'no_capacity', detail: `the upstream was not asked: ${reason}` },
  };
}
