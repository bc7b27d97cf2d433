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
