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

/**
 * failing    the last attempts failed by the upstream's fault
 * degraded   they failed, perhaps by the fault of clients
 */
export type Trouble = 'failing' | 'degraded';

export type PlaceState = 'healthy' | Trouble | 'disabled';

type BreakerState = {
  /** The slug of the model served here. */
  readonly model: string;
  readonly breaker: 'closed' | 'open' | 'half_open';
  /** Present if the operator has disabled it. */
  readonly disabled?: true;
  /** A parameter that the gateway chose and the upstream refuses; for operators only. */
  readonly refuses?: string | undefined;
  /** What the last attempts say; for operators only. */
  readonly trouble?: Trouble;
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

/** Adds what the last attempts say. */
export function withTrouble(
  states: readonly UpstreamState[],
  troubleOf: (upstream: string, modelSlug: string) => Trouble | undefined,
): readonly UpstreamState[] {
  return states.map((state) => ({
    ...state,
    models: state.models.map((each) => {
      const trouble = troubleOf(state.upstream, each.model);
      return trouble === undefined || each.trouble === 'failing' ? each : { ...each, trouble };
    }),
  }));
}

/** A half-open breaker counts as open: it has served nothing yet. */
export function placeState(place: BreakerState | undefined): PlaceState {
  if (place?.disabled) return 'disabled';
  if (place !== undefined && place.breaker !== 'closed') return 'failing';
  return place?.trouble ?? 'healthy';
}

/** A model by its own placements: one that only a fallback serves is down. */
export function modelState(places: readonly PlaceState[]): 'healthy' | 'degraded' | 'down' {
  if (places.every((state) => state === 'failing' || state === 'disabled')) return 'down';
  return places.every((state) => state === 'healthy') ? 'healthy' : 'degraded';
}

export function upstreamState({
  credentials,
  models,
}: UpstreamState): 'healthy' | 'degraded' | 'down' | 'disabled' {
  const places = models.map(placeState);
  const inService = places.filter((state) => state !== 'disabled');
  if (places.length > 0 && inService.length === 0) return 'disabled';
  if (credentials.every(({ state }) => state !== 'ok')) return 'down';
  if (inService.length > 0 && inService.every((state) => state === 'failing')) return 'down';
  const isHealthy =
    credentials.every(({ state }) => state === 'ok') &&
    places.every((state) => state === 'healthy');
  return isHealthy ? 'healthy' : 'degraded';
}
