// What the catalog knows of a model and of the places that run it. Immutable: a request keeps the
// snapshot that it began with.

import type { Micro, UsdRate } from './money.ts';
import type { IncidentLimits, Plan } from './plan.ts';
import type { Price } from './price.ts';
import type { PriceBook } from './price-book.ts';
import type { ChatProfile, MessagesProfile } from './profile.ts';

export type ModelFeature = 'tools' | 'json' | 'vision' | 'reasoning';

/** One upstream that can serve a model, under that upstream's own name for it. */
export type Placement = {
  readonly upstream: string;
  readonly model: string;
  readonly weight: number;
  /** The upstream's own timers, with what this placement sets in their place. */
  readonly timeouts: UpstreamTimeouts;
  /** What the upstream asks the operator for a token; absent where nobody said. */
  readonly cost?: Price;
};

export type Model = {
  readonly slug: string;
  readonly aliases: readonly string[];
  readonly displayName: string;
  readonly description: string;
  /** Unix seconds. */
  readonly created: number;
  readonly contextWindow: number;
  readonly maxOutput: number;
  readonly features: ReadonlySet<ModelFeature>;
  /** What an image costs, as a multiple of what its upstreams' formula gives; absent: that. */
  readonly imageFactor?: number;
  readonly prices: PriceBook;
  readonly servedBy: readonly Placement[];
  /** Slugs of the models to try when every placement has failed, in order. */
  readonly fallbacks: readonly string[];
  /** Lower limits set in the catalog; the operator's own at run time come on top of these. */
  readonly incidentLimits?: IncidentLimits;
};

type UpstreamBase = {
  readonly id: string;
  readonly timeouts: UpstreamTimeouts;
  /** At least one. */
  readonly credentials: readonly [UpstreamCredential, ...UpstreamCredential[]];
  readonly concurrency: UpstreamConcurrency;
  /** How long it is left alone after it was found to fail, where it did not say so itself. */
  readonly coolDownMs: number;
};

type RemoteUpstream = UpstreamBase & {
  /** Without a trailing slash, as the format's clients take it: with /v1 for chat alone. */
  readonly baseUrl: string;
  /** What the catalog calls the profile; for people, never for decisions. */
  readonly profileName: string;
  /**
   * Whether it stops counting when a request to it is aborted. Then a client that leaves ends the
   * attempt; otherwise the answer is read to its end, within bounds, for what it really cost.
   */
  readonly cancelStopsBilling: boolean;
  /** `sockets`: the program's own HTTP client; `fetch`: the runtime's. */
  readonly transport: 'sockets' | 'fetch';
  /** An HTTP proxy on the way to it. */
  readonly proxyUrl?: string;
  /** Whether it may be at a link-local address, where clouds keep their machines' secrets. */
  readonly allowLinkLocal: boolean;
};

export type Upstream =
  | (RemoteUpstream & { readonly dialect: 'chat'; readonly profile: ChatProfile })
  | (RemoteUpstream & { readonly dialect: 'messages'; readonly profile: MessagesProfile })
  | (UpstreamBase & { readonly dialect: 'demo' });

/** One key to an upstream. */
export type UpstreamCredential = {
  /** Its place in the catalog's list, from 1. Never a part of the key. */
  readonly id: string;
  /** Empty where the upstream wants none. */
  readonly apiKey: string;
};

/** How many requests may be under way, how many more may wait for that, and how long each. */
export type UpstreamConcurrency = {
  readonly maxInFlight: number;
  readonly queueLength: number;
  readonly queueMs: number;
};

export type UpstreamTimeouts = {
  /** Until the connection is made, name and TLS included. */
  readonly connectMs: number;
  /** From the request to the first byte of a stream. */
  readonly firstByteMs: number;
  /**
   * From the request to the first content: comments, blank lines and roles are none. An answer that
   * is asked for in one piece is silent until it is complete, so this is all that it has.
   */
  readonly firstContentMs: number;
  /** Between two pieces of content, of the time in which somebody waits for the next. */
  readonly idleMs: number;
  /** The least that an answer under way makes, over every `idleMs` of that time; 0 for any. */
  readonly minTokensPerSecond: number;
  /** From the request to the end of the answer. */
  readonly totalMs: number;
};

/** One immutable state of the catalog. */
export type Catalog = {
  /** Service name in `owned_by`. */
  readonly serviceName: string;
  readonly usdPerMillion: UsdRate;
  /** The least that a request reserves, in 10⁻⁶ service token. */
  readonly minimumHold: Micro;
  readonly models: readonly Model[];
  readonly plans: ReadonlyMap<string, Plan>;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Resolves a slug or an alias. */
  readonly resolve: (slugOrAlias: string) => Model | undefined;
};
