// Snapshots of upstream health, for the router and for operators.

export type UpstreamState = {
  readonly upstream: string;
  readonly inFlight: number;
  /** Requests waiting for one in flight to end. */
  readonly queued: number;
  readonly credentials: readonly CredentialState[];
  readonly models: readonly BreakerState[];
};

/** `status` is the upstream's refusal of the credential; `untilMs` is when it will be retried. */
export type CredentialState = {
  /** Position in the catalog's list, starting at 1. */
  readonly id: string;
  readonly state: 'ok' | 'disabled';
  readonly status?: number;
  /** Unix milliseconds. */
  readonly untilMs?: number;
};

type BreakerState = {
  /** The slug of the model served here. */
  readonly model: string;
  readonly breaker: 'closed' | 'open' | 'half_open';
  /** Present if the operator has disabled it. */
  readonly disabled?: true;
  /** Unix milliseconds. */
  readonly untilMs?: number;
};

/** Adds the operator's disabled flags to the state of the breakers. */
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
