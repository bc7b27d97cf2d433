// What `/readyz` says of upstreams that do badly. Whoever may see the metrics is told their names;
// everybody else who can reach the path gets counts, and no name that an operator has given.

import type { UpstreamState } from './health.ts';

/** What is wrong now and needs the operator, in words; empty when nothing is. */
export function upstreamWarnings(
  states: readonly UpstreamState[],
  audience: 'operator' | 'anybody',
): readonly string[] {
  const named = states.flatMap(({ upstream, credentials, models }) => [
    ...credentials
      .filter(({ state }) => state === 'disabled')
      .map(({ id, status }) => {
        const answer = status === undefined ? '' : ` (status ${status})`;
        return `upstream ${upstream} refuses credential ${id}${answer}`;
      }),
    ...models
      .filter(({ breaker }) => breaker !== 'closed')
      .map(({ model }) => `upstream ${upstream} fails for ${model}`),
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

/** A breaker that is tried half-open counts as open: nothing has served yet. */
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

/** How upstreams do, as members of an answer are named, with instants in ISO 8601. */
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
