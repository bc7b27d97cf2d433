// The upstreams and the catalog of health.test.ts: one model a scene, with an upstream that fails
// in one way and healthy ones.

import { type Behaviour, play, sendWhole } from '../../support/behaviours.ts';
import { catalogOf, ROOMY_PLAN } from '../../support/catalog.ts';
import { USAGE } from '../../support/render.ts';
import type { Exchange, Upstream } from '../../support/upstream.ts';

type Json = Readonly<Record<string, unknown>>;

const ok = play({ pieces: [{ text: 'Hello.' }], finish: 'stop', usage: USAGE });

function refuses(status: number, more: Readonly<Record<string, string>> = {}): Behaviour {
  return (exchange) => sendWhole(exchange, status, '{"error":{}}', 'application/json', more);
}

/** Whether the request came with the first of the catalog's keys. */
function hasFirstKey({ request }: Exchange): boolean {
  return request.headers['authorization'] === 'Bearer key-one';
}

/** How many requests a site has been answering at most, at one moment. */
export const mostAtOnce = new Map<string, number>();
const atOnce = new Map<string, number>();

/** Sites whose held answers may go. */
export const released = new Set<string>();

/** The catalog says how many at a time. */
const held: Behaviour = async (exchange) => {
  const { site } = exchange.request;
  const now = (atOnce.get(site) ?? 0) + 1;
  atOnce.set(site, now);
  mostAtOnce.set(site, Math.max(now, mostAtOnce.get(site) ?? 0));
  while (!released.has(site) && !exchange.gone()) await exchange.sleep(5);
  atOnce.set(site, (atOnce.get(site) ?? 0) - 1);
  await ok(exchange);
};

/** Requests and probes. */
let failed = 0;

export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  ok,
  held,
  'fails-eight-times': (exchange) => {
    failed += 1;
    return failed <= 8 ? refuses(500)(exchange) : ok(exchange);
  },
  'leave-me-alone': (exchange) =>
    exchange.request.earlier < 1 ? refuses(503, { 'retry-after': '3' })(exchange) : ok(exchange),
  'leave-me-alone-longer': refuses(503, { 'retry-after': '60' }),
  'refuses-one-key': (exchange) => (hasFirstKey(exchange) ? refuses(401) : ok)(exchange),
  'limits-one-key': (exchange) =>
    (hasFirstKey(exchange) ? refuses(429, { 'retry-after': '30' }) : ok)(exchange),
};

type Scene = {
  /** What its upstream does. */
  readonly does: string;
  /** What is set for that upstream. */
  readonly upstream?: Json;
  /** Whether another upstream, which is well, serves the model when that one does not. */
  readonly second?: true;
  readonly model?: Json;
};

/** So many upstreams of one model, each of which fails. */
function failingPlacements(count: number): Json[] {
  return Array.from({ length: count }, (_, index) => ({
    upstream: `failing-${index + 1}`,
    model: 'status-500',
  }));
}

const KEYS = { api_keys: ['key-one', 'key-two'] };
const ONE_AT_A_TIME = { max_in_flight: 1, queue_seconds: 10 };

/** A model, an upstream and a site for each name. */
const SCENES: Readonly<Record<string, Scene>> = {
  resting: { does: 'status-500', second: true, upstream: { cool_down_seconds: 60 } },
  recovering: { does: 'fails-eight-times', second: true, upstream: { cool_down_seconds: 0.5 } },
  'retry-after': { does: 'leave-me-alone', second: true },
  'retry-after-alone': { does: 'leave-me-alone-longer' },
  'one-key-refused': { does: 'refuses-one-key', upstream: KEYS },
  'one-key-limited': { does: 'limits-one-key', upstream: KEYS },
  'all-keys-refused': { does: 'status-403', upstream: KEYS },
  queue: { does: 'held', upstream: { ...ONE_AT_A_TIME, queue_length: 2 } },
  overflow: { does: 'held', second: true, upstream: { ...ONE_AT_A_TIME, queue_length: 0 } },
  impatient: { does: 'held', upstream: { max_in_flight: 1, queue_seconds: 0.02 } },
  left: { does: 'held', upstream: ONE_AT_A_TIME },
  storm: { does: 'status-500', upstream: { cool_down_seconds: 0 } },
  weighed: { does: 'ok', second: true },
  silent: { does: 'stall-after-head', second: true, upstream: { first_content_seconds: 3 } },
  'silent-alone': {
    does: 'stall-after-head',
    upstream: { first_content_seconds: 3 },
  },
  'silent-fallback': {
    does: 'stall-after-head',
    upstream: { first_content_seconds: 3 },
    model: { fallbacks: ['broken', 'spare'] },
  },
  'not-in-plan': { does: 'status-404', model: { fallbacks: ['exclusive'] } },
  'too-big': { does: 'status-404', model: { fallbacks: ['narrow', 'spare'] } },
  'with-image': { does: 'status-404', model: { fallbacks: ['blind', 'spare'] } },
  'many-fallbacks': { does: 'status-404', model: { fallbacks: ['broken', 'broken-too', 'spare'] } },
  'many-upstreams': {
    does: 'status-500',
    model: { served_by: failingPlacements(5), fallbacks: ['broken', 'spare'] },
  },
  'three-at-most': { does: 'status-500', model: { served_by: failingPlacements(5) } },
};

const SERVED_BY_OK = { served_by: [{ upstream: 'well', model: 'ok' }] };
const SERVED_BY_NOBODY = { served_by: [{ upstream: 'well', model: 'status-404' }] };

/** For tests whose customers have the plan `some`. */
export function catalogText(upstream: Upstream): string {
  const scenes = Object.entries(SCENES);
  const remote = (id: string): Json => ({
    id,
    dialect: 'chat',
    base_url: upstream.site(id).baseUrl,
  });
  const plan = { ...ROOMY_PLAN, models: ['*'] };
  const open = [
    ...scenes.map(([slug]) => slug),
    'spare',
    'narrow',
    'blind',
    'broken',
    'broken-too',
  ];
  return catalogOf({
    upstreams: [
      remote('well'),
      ...failingPlacements(5).map(({ upstream: id }) => remote(String(id))),
      ...scenes.map(([id, scene]) => ({ ...remote(id), ...scene.upstream })),
    ],
    models: [
      { slug: 'spare', ...SERVED_BY_OK },
      { slug: 'exclusive', ...SERVED_BY_OK },
      { slug: 'narrow', ...SERVED_BY_OK, context_window: 1_000, max_output: 500 },
      { slug: 'blind', ...SERVED_BY_OK, features: ['tools'] },
      { slug: 'broken', ...SERVED_BY_NOBODY },
      { slug: 'broken-too', ...SERVED_BY_NOBODY },
      ...scenes.map(([slug, { does, second, model }]) => ({
        slug,
        served_by: [
          { upstream: slug, model: does, weight: slug === 'weighed' ? 3 : 1_000_000 },
          ...(second === true
            ? [{ upstream: 'well', model: 'ok', weight: slug === 'weighed' ? 1 : 0.000_001 }]
            : []),
        ],
        ...model,
      })),
    ],
    plans: { everything: plan, some: { ...plan, models: open } },
  });
}
