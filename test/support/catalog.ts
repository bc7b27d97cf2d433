// Writes catalogs for tests: one model for each behaviour of the scripted upstream, named after it.

import type { WireDialect } from './render.ts';
import type { Upstream } from './upstream.ts';

type Fields = Readonly<Record<string, unknown>>;

export type CatalogOptions = {
  /** The dialect that the gateway speaks with the upstream; chat by default. */
  readonly dialect?: WireDialect;
  /** Merged into `[service]`. */
  readonly service?: Fields;
  /** Merged into the upstream, such as `{ idle_seconds: 1 }`. */
  readonly upstream?: Fields;
  /** The ids of further upstreams that are the same but for their name. */
  readonly moreUpstreams?: readonly string[];
  /** Merged into every model. */
  readonly model?: Fields;
  /** Merged into single models, by slug, such as `{ reset: { fallbacks: ['ok'] } }`. */
  readonly models?: Readonly<Record<string, Fields>>;
  /** Plans by slug. */
  readonly plans?: Readonly<Record<string, Fields>>;
};

/** The credential that the gateway sends upstream; it must never show up anywhere else. */
export const UPSTREAM_KEY = 'upstream-secret-4411';

/** For catalogs whose upstream, at a private address, is to get image addresses. */
export const IMAGE_ADDRESSES = ['chat', 'messages', 'openai', 'anthropic']
  .map((name) => `\n[profile.${name}]\nimage_urls = "any"\n`)
  .join('');

/** The limits of a plan that no test reaches; tests of one limit lower that one. */
export const ROOMY_PLAN = {
  requests_per_minute: 100_000,
  tokens_per_minute: 1_000_000_000,
  concurrent_requests: 1_000,
  max_context: 256_000,
  max_api_keys: 100,
} as const;

/** Every field that a plan needs, all of them out of the way. */
export const LARGE_PLAN: Fields = {
  requests_per_minute: 100_000,
  tokens_per_minute: 1_000_000_000,
  concurrent_requests: 1_000,
  max_context: 10_000_000,
  max_api_keys: 100,
};

/**
 * One model a behaviour: input costs 1, cached input 0.1 and output 2 service tokens. The scripted
 * upstream's standard answer (10 prompt, 4 of them cached, 5 output) thus costs 16.4.
 */
export function catalogFor(
  upstream: Upstream,
  behaviours: readonly string[],
  options: CatalogOptions = {},
): string {
  const dialect = options.dialect ?? 'chat';
  const upstreamFields: Fields = {
    id: 'scripted',
    dialect,
    base_url: dialect === 'messages' ? upstream.messagesBaseUrl : upstream.baseUrl,
    api_key: UPSTREAM_KEY,
    // Many behaviours are behind this one upstream: none of them may cost the others their turn.
    cool_down_seconds: 0,
    ...options.upstream,
  };
  const models = behaviours.map((slug) => ({
    slug,
    served_by: [{ upstream: 'scripted', model: slug }],
    ...options.model,
    ...options.models?.[slug],
  }));
  const { service, plans, moreUpstreams = [] } = options;
  const upstreams = [upstreamFields, ...moreUpstreams.map((id) => ({ ...upstreamFields, id }))];
  return catalogOf({ upstreams, models, service, plans });
}

export type CatalogParts = {
  readonly upstreams: readonly Fields[];
  /** Each with what a model needs, which they may replace; `slug` and `served_by` are theirs. */
  readonly models: readonly Fields[];
  readonly service?: Fields | undefined;
  readonly plans?: Readonly<Record<string, Fields>> | undefined;
};

/** The text of a catalog of any upstreams and models. */
export function catalogOf({ upstreams, models, service, plans = {} }: CatalogParts): string {
  return [
    section('[service]', { usd_per_million: '1.00', ...service }),
    ...upstreams.map((fields) => section('[[upstream]]', fields)),
    ...models.map((fields) => section('[[model]]', { ...MODEL, ...fields })),
    ...Object.entries(plans).map(([slug, plan]) => section(`[plan.${slug}]`, plan)),
  ].join('\n');
}

const MODEL: Fields = {
  context_window: 128_000,
  max_output: 8_192,
  // Unseen work of milliseconds costs nothing, so that charges are exact.
  tokens_per_second: 1,
  features: ['tools', 'json', 'vision', 'reasoning'],
  price: { input: '1', cached_input: '0.1', output: '2' },
};

function section(header: string, fields: Fields): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name} = ${toToml(value)}\n`);
  return `${header}\n${lines.join('')}`;
}

/** Strings, numbers and booleans are the same in JSON and TOML; tables are written inline. */
function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${name} = ${toToml(field)}`);
  return `{ ${fields.join(', ')} }`;
}
