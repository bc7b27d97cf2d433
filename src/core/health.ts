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

/** `idle` has no answer that is recent enough to prove it healthy. */
export type PlaceState = 'healthy' | 'idle' | Trouble | 'disabled';

const UPSTREAM_WORDS = ['healthy', 'idle', 'degraded', 'down', 'disabled'] as const;

export type UpstreamWord = (typeof UPSTREAM_WORDS)[number];

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
  /** Present if it answered a request lately. */
  readonly answered?: true;
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
export function withLastAttempts(
  states: readonly UpstreamState[],
  last: {
    readonly trouble: (upstream: string, modelSlug: string) => Trouble | undefined;
    readonly answered: (upstream: string, modelSlug: string) => boolean;
  },
): readonly UpstreamState[] {
  return states.map(({ upstream, models, ...state }) => ({
    ...state,
    upstream,
    models: models.map((each) => {
      const trouble = each.trouble === 'failing' ? 'failing' : last.trouble(upstream, each.model);
      return {
        ...each,
        ...(trouble && { trouble }),
        ...(last.answered(upstream, each.model) && { answered: true as const }),
      };
    }),
  }));
}

/** A half-open breaker counts as open: it has served nothing yet. */
export function placeState(place: BreakerState | undefined): PlaceState {
  if (place === undefined) return 'idle';
  if (place.disabled) return 'disabled';
  if (place.breaker !== 'closed') return 'failing';
  return place.trouble ?? (place.answered ? 'healthy' : 'idle');
}

/** A model by its own placements: one that only a fallback serves is down. */
export function modelState(places: readonly PlaceState[]): Exclude<UpstreamWord, 'disabled'> {
  if (places.every((state) => state === 'failing' || state === 'disabled')) return 'down';
  return wellState(places) ?? 'degraded';
}

export function upstreamState({ credentials, models }: UpstreamState): UpstreamWord {
  const places = models.map(placeState);
  const inService = places.filter((state) => state !== 'disabled');
  if (places.length > 0 && inService.length === 0) return 'disabled';
  if (credentials.every(({ state }) => state !== 'ok')) return 'down';
  if (inService.length > 0 && inService.every((state) => state === 'failing')) return 'down';
  const areOk = credentials.every(({ state }) => state === 'ok');
  return (areOk ? wellState(places) : undefined) ?? 'degraded';
}

/** Undefined where a place is in trouble or disabled. */
function wellState(places: readonly PlaceState[]): 'healthy' | 'idle' | undefined {
  if (places.some((state) => state !== 'healthy' && state !== 'idle')) return undefined;
  return places.includes('healthy') ? 'healthy' : 'idle';
}

/** How many upstreams are in each state; the same on every page and in the metrics. */
export function countUpstreams(
  states: readonly UpstreamState[],
): Readonly<Record<UpstreamWord, number>> {
  const words = states.map(upstreamState);
  const count = (word: UpstreamWord) => words.filter((each) => each === word).length;
  return Object.fromEntries(UPSTREAM_WORDS.map((word) => [word, count(word)])) as Record<
    UpstreamWord,
    number
  >;
}
