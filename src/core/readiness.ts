// The upstream part of `/readyz`. Callers with access to the metrics see upstream names; all others
// see counts and no operator-chosen name.

import type { UpstreamState } from './health.ts';

/** Current conditions that need the operator, as text; empty if there are none. */
export function upstreamWarnings(
  states: readonly UpstreamState[],
  audience: 'operator' | 'public',
): readonly string[] {
  const named = states.flatMap(({ upstream, credentials, models }) => [
    ...credentials
      .filter(({ state }) => state === 'disabled')
      .map(({ id, status }) => {
        const answer = status === undefined ? '' : ` (status ${status})`;
        return `upstream ${upstream} refuses credential ${id}${answer}`;
      }),
    ...models
      .filter(({ breaker, trouble }) => breaker !== 'closed' || trouble === 'failing')
      .map(({ model }) => `upstream ${upstream} fails for ${model}`),
    ...models
      .filter(({ refuses }) => refuses !== undefined)
      .map(
        ({ model, refuses }) =>
          `upstream ${upstream} refuses ${refuses} for ${model}, which its profile or the catalog sets`,
      ),
    ...outOfService(models).map((words) => `upstream ${upstream} is out of service${words}`),
  ]);
  if (audience === 'operator') return named;
  const { credentialsDisabled, breakersOpen } = upstreamCounts(states);
  const out = states.flatMap(({ models }) => models.filter(({ disabled }) => disabled)).length;
  return [
    ...(credentialsDisabled === 0 ? [] : [`${credentialsDisabled} × upstream credential refused`]),
    ...(breakersOpen === 0 ? [] : [`${breakersOpen} × model failing at an upstream`]),
    ...(out === 0 ? [] : [`${out} × model out of service at an upstream`]),
  ];
}

function outOfService(models: UpstreamState['models']): string[] {
  const out = models.filter(({ disabled }) => disabled);
  return out.length === models.length && out.length > 0
    ? ['']
    : out.map(({ model }) => ` for ${model}`);
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
