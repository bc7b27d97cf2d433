// How an upstream does, as the router knows it and as operators see it: plain data, made anew each
// time that somebody asks.

export type UpstreamState = {
  readonly upstream: string;
  readonly inFlight: number;
  /** Requests that wait for one in flight to end. */
  readonly queued: number;
  readonly credentials: readonly CredentialState[];
  readonly models: readonly BreakerState[];
};

/** `status` is what the upstream refused the credential with; `untilMs`, when it is tried again. */
export type CredentialState = {
  /** Its place in the catalog's list, from 1. */
  readonly id: string;
  readonly state: 'ok' | 'disabled';
  readonly status?: number;
  /** Unix milliseconds. */
  readonly untilMs?: number;
};

type BreakerState = {
  /** The slug of the model that it serves here. */
  readonly model: string;
  readonly breaker: 'closed' | 'open' | 'half_open';
  /** Present where the operator has taken it out of service. */
  readonly disabled?: true;
  /** Unix milliseconds. */
  readonly untilMs?: number;
};

/** What the breakers know, with what the operator has set. */
export function withDisabled(
  states: readonly UpstreamState[],
  isDisabled: (upstream: string, modelSlug: string) => boolean,
): readonly UpstreamState[] {
  return states.map((state) => ({
    ...state,
    models: state.models.map((each) =>
      isDisabled(state.upstream, each.model) ? { ...each, disabled: true } : each,
    ),
  }));
}

/** Of several threads, each of which asks for itself: sums, and the worst that any of them knows. */
export function joinUpstreams(
  threads: readonly (readonly UpstreamState[])[],
): readonly UpstreamState[] {
  const joined = new Map<string, UpstreamState>();
  for (const state of threads.flat()) {
    const before = joined.get(state.upstream);
    joined.set(state.upstream, before === undefined ? state : joinStates(before, state));
  }
  return [...joined.values()];
}

function joinStates(one: UpstreamState, other: UpstreamState): UpstreamState {
  const credentials = new Map(other.credentials.map((each) => [each.id, each]));
  const models = new Map(other.models.map((each) => [each.model, each]));
  return {
    upstream: one.upstream,
    inFlight: one.inFlight + other.inFlight,
    queued: one.queued + other.queued,
    credentials: one.credentials.map((each) => {
      const theirs = credentials.get(each.id);
      return each.state === 'ok' && theirs?.state === 'disabled' ? theirs : each;
    }),
    models: one.models.map((each) => {
      const theirs = models.get(each.model);
      const isWorse = BREAKER_BADNESS[theirs?.breaker ?? 'closed'] > BREAKER_BADNESS[each.breaker];
      return isWorse && theirs !== undefined ? theirs : each;
    }),
  };
}

const BREAKER_BADNESS = { closed: 0, half_open: 1, open: 2 } as const;
