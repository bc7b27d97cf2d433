// The catalog's models and the upstreams that run them. Immutable: a request keeps the snapshot
// with which it began.

import type { Micro, UsdRate } from './money.ts';
import type { IncidentLimits, Plan } from './plan.ts';
import type { Price } from './price.ts';
import type { PriceBook } from './price-book.ts';
import type { UpstreamProfile } from './profile.ts';
import type { Sentence } from './sentence.ts';
import type { Service } from './service.ts';

export type ModelFeature = 'tools' | 'json' | 'vision' | 'reasoning';

/** One upstream that can serve a model, with that upstream's name for it. */
export type Placement = {
  readonly upstream: string;
  readonly model: string;
  readonly weight: number;
  /** How the upstream's requests and answers differ from its dialect's for this model. */
  readonly profile: UpstreamProfile;
  /** For display, never for decisions. */
  readonly profileChoice: ProfileChoice;
  /** The upstream's timers, with this placement's overrides. */
  readonly timeouts: UpstreamTimeouts;
  /** The upstream's price per token for the operator; absent if not configured. */
  readonly cost?: Price;
};

/** The name of a placement's profile, and why it is this one. */
export type ProfileChoice = { readonly name: string; readonly reason: Sentence };

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
  /** Whether the catalog states the features. If so, a request for another one is rejected. */
  readonly statesFeatures?: boolean;
  /** The operator's value for its output tokens a second, which bounds the measured ones. */
  readonly tokensPerSecond?: number;
  /** A multiplier for the image tokens of the upstreams' formula; defaults to 1. */
  readonly imageFactor?: number;
  readonly prices: PriceBook;
  readonly servedBy: readonly Placement[];
  /** Slugs of the models to try, in order, when every placement has failed. */
  readonly fallbacks: readonly string[];
  /** Lower limits set in the catalog; the operator's run-time limits apply in addition. */
  readonly incidentLimits?: IncidentLimits;
};

type UpstreamBase = {
  readonly id: string;
  readonly timeouts: UpstreamTimeouts;
  /** At least one. */
  readonly credentials: readonly [UpstreamCredential, ...UpstreamCredential[]];
  readonly concurrency: UpstreamConcurrency;
  /** The cool-down after the upstream was found failing, unless it requests its own. */
  readonly coolDownMs: number;
};

type RemoteUpstream = UpstreamBase & {
  /** Without a trailing slash, as the format's clients expect it: with /v1 for chat only. */
  readonly baseUrl: string;
  /** The catalog's name of the profile; for display, never for decisions. */
  readonly profileName: string;
  /** For models whose placement has no other. */
  readonly profile: UpstreamProfile;
  /**
   * Whether aborting a request stops the upstream's billing. If so, a disconnect ends the attempt.
   * Otherwise the answer is drained, within bounds, to learn its real cost. Undefined: as the
   * profile says.
   */
  readonly cancelStopsBilling: boolean | undefined;
  /** `sockets`: Tollgate's own HTTP client; `fetch`: the runtime's. */
  readonly transport: 'sockets' | 'fetch';
  /** An HTTP proxy for connections to the upstream. */
  readonly proxyUrl?: string;
  readonly auth: UpstreamAuth;
  /** Whether a link-local address is allowed, where clouds keep their machines' secrets. */
  readonly allowLinkLocal: boolean;
};

export type Upstream =
  | (RemoteUpstream & { readonly dialect: 'chat' })
  | (RemoteUpstream & { readonly dialect: 'messages' })
  | (RemoteUpstream & { readonly dialect: 'responses' })
  | (UpstreamBase & { readonly dialect: 'demo' });

/**
 * How requests to an upstream are authenticated. `key`: by the credential's key, in the header that
 * the profile names. `aws`: by an AWS signature (SigV4) of each request. `google`: by a token that
 * Google issues for a service account or a user. Without a file, the credentials of the environment
 * are used.
 */
export type UpstreamAuth =
  | { readonly kind: 'key' }
  | {
      readonly kind: 'aws';
      readonly region: string;
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      /** Of temporary credentials. */
      readonly sessionToken?: string;
    }
  | { readonly kind: 'google'; readonly credentialsFile?: string };

/** One key to an upstream. */
export type UpstreamCredential = {
  /** Position in the catalog's list, starting at 1. Never a part of the key. */
  readonly id: string;
  /** Empty if the upstream requires none, or is authenticated otherwise. */
  readonly apiKey: string;
};

/** Concurrent requests, queue length, and the longest wait in the queue. */
export type UpstreamConcurrency = {
  readonly maxInFlight: number;
  readonly queueLength: number;
  readonly queueMs: number;
};

export type UpstreamTimeouts = {
  /** Until the connection is established, including DNS and TLS. */
  readonly connectMs: number;
  /** From the request to the first byte of a stream. */
  readonly firstByteMs: number;
  /**
   * From the request to the first content; comments, blank lines and roles do not count. A
   * non-streamed answer is silent until it is complete, so only this timer and `totalMs` apply to
   * it.
   */
  readonly firstContentMs: number;
  /** Between two pieces of content, counting only the time spent waiting for the next one. */
  readonly idleMs: number;
  /** The minimum rate of an answer, measured over every `idleMs` of that time; 0 disables it. */
  readonly minTokensPerSecond: number;
  /** From the request to the end of the answer. */
  readonly totalMs: number;
};

/** One immutable state of the catalog. */
export type Catalog = {
  /** Service name in `owned_by`. */
  readonly serviceName: string;
  readonly service: Service;
  readonly usdPerMillion: UsdRate;
  /** The least that a request reserves, in 10⁻⁶ service tokens. */
  readonly minimumHold: Micro;
  readonly models: readonly Model[];
  readonly plans: ReadonlyMap<string, Plan>;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Resolves a slug or an alias. */
  readonly resolve: (slugOrAlias: string) => Model | undefined;
};
