// The upstream part of `/readyz`. Callers with access to the metrics see upstream names; all others
// see counts and no operator-chosen name.

import { placeState, type UpstreamState } from './health.ts';
import { type Sentence, say } from './sentence.ts';

/**
 * Current conditions that need the operator; empty if there are none. The operator gets at least one
 * for each upstream that is down or disabled. What may be the fault of clients is none: they could
 * raise it at will.
 */
export function upstreamWarnings(
  states: readonly UpstreamState[],
  audience: 'operator' | 'public',
): readonly Sentence[] {
  return audience === 'operator' ? states.flatMap(namedWarnings) : countedWarnings(states);
}

function namedWarnings({ upstream, credentials, models }: UpstreamState): Sentence[] {
  const about = `upstreams/${upstream}`;
  const modelsIn = (state: ReturnType<typeof placeState>) =>
    models.filter((place) => placeState(place) === state);
  return [
    ...credentials
      .filter(({ state }) => state === 'disabled')
      .map(({ id, status }) =>
        status === undefined
          ? say('upstream {upstream} refuses credential {id}', { upstream, id }, about)
          : say(
              'upstream {upstream} refuses credential {id} (status {status})',
              { upstream, id, status: String(status) },
              about,
            ),
      ),
    ...modelsIn('failing').map(({ model }) =>
      say('upstream {upstream} fails for {model}', { upstream, model }, about),
    ),
    ...models.flatMap(({ model, refuses: parameter }) =>
      parameter === undefined
        ? []
        : say(
            'upstream {upstream} refuses {parameter} for {model}, which its profile or the catalog sets{said}',
            { upstream, model, parameter, said: '' },
            about,
          ),
    ),
    ...outOfService(upstream, models, about),
  ];
}

function outOfService(
  upstream: string,
  models: UpstreamState['models'],
  about: string,
): Sentence[] {
  const out = models.filter(({ disabled }) => disabled);
  return out.length === models.length && out.length > 0
    ? [say('upstream {upstream} is out of service', { upstream }, about)]
    : out.map(({ model }) =>
        say('upstream {upstream} is out of service for {model}', { upstream, model }, about),
      );
}

/** Without names. The console never shows these, so they have no translation. */
function countedWarnings(states: readonly UpstreamState[]): Sentence[] {
  const places = states.flatMap(({ models }) => models.map(placeState));
  const times = (count: number, what: string) =>
    count === 0 ? [] : { text: `${count} × ${what}`, values: {} };
  const placesIn = (state: ReturnType<typeof placeState>) =>
    places.filter((each) => each === state).length;
  return [
    times(upstreamCounts(states).credentialsDisabled, 'upstream credential refused'),
    times(placesIn('failing'), 'model failing at an upstream'),
    times(placesIn('disabled'), 'model out of service at an upstream'),
  ].flat();
}

/** A half-open breaker counts as open: it has served nothing yet. */
export function upstreamCounts(states: readonly UpstreamState[]): {
  readonly upstreams: number;
  readonly credentialsDisabled: number;
  readonly breakersOpen: number;
} {
  const credentials = states.flatMap((state) => state.credentials);
  const models = states.flatMap((state) => state.models);
  return {
    upstreams: states.length,
    credentialsDisabled: credentials.filter(({ state }) => state === 'disabled').length,
    breakersOpen: models.filter(({ breaker }) => breaker !== 'closed').length,
  };
}

/** Upstream states with the member names of the response, and instants in ISO 8601. */
export function upstreamRecords(states: readonly UpstreamState[]): unknown[] {
  return states.map(({ upstream, inFlight, queued, credentials, models }) => ({
    upstream,
    in_flight: inFlight,
    queued,
    credentials: credentials.map(withInstant),
    models: models.map(withInstant),
  }));
}

function withInstant<T extends { readonly untilMs?: number }>({ untilMs, ...facts }: T): unknown {
  return untilMs === undefined ? facts : { ...facts, until: new Date(untilMs).toISOString() };
}
