// What the catalog knows of a model and of the places that run it. Immutable: a request keeps the
// snapshot that it began with.

import type { UsdRate } from './money.ts';
import type { IncidentLimits, Plan } from './plan.ts';
import type { PriceBook } from './price-book.ts';
import type { ChatProfile, MessagesProfile } from './profile.ts';

type ModelFeature = 'tools' | 'json' | 'vision' | 'reasoning';

/** One upstream that can serve a model, under that upstream's own name for it. */
export type Placement = {
  readonly upstream: string;
  readonly model: string;
  readonly weight: number;
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
  readonly prices: PriceBook;
  readonly servedBy: readonly Placement[];
  /** Slugs of the models to try when every placement has failed, in order. */
  readonly fallbacks: readonly string[];
  /** Lower limits set in the catalog; the operator's own at run time come on top of these. */
  readonly incidentLimits?: IncidentLimits;
};

type RemoteUpstream = {
  readonly id: string;
  /** Without a trailing slash, as the format's clients take it: with /v1 for chat alone. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** What the catalog calls the profile; for people, never for decisions. */
  readonly profileName: string;
  /**
   * Whether it stops counting when a request to it is aborted. Then a client that leaves ends the
   * attempt; otherwise the answer is read to its end, within bounds, for what it really cost.
   */
  readonly cancelStopsBilling: boolean;
  readonly timeouts: UpstreamTimeouts;
};

export type Upstream =
  | (RemoteUpstream & { readonly dialect: 'chat'; readonly profile: ChatProfile })
  | (RemoteUpstream & { readonly dialect: 'messages'; readonly profile: MessagesProfile })
  | { readonly id: string; readonly dialect: 'demo'; readonly timeouts: UpstreamTimeouts };

export type UpstreamTimeouts = {
  /** From the request to the first byte of the answer's body or stream. */
  readonly firstByteMs: number;
  /** Between two reads of an answer. */
  readonly idleMs: number;
  /** From the request to the end of the answer. */
  readonly totalMs: number;
};

/** One immutable state of the catalog. */
export type Catalog = {
  /** Service name in `owned_by`. */
  readonly serviceName: string;
  readonly usdPerMillion: UsdRate;
  /** The least that a request reserves, in 10⁻⁶ service token. */
  readonly minimumHold: bigint;
  readonly models: readonly Model[];
  readonly plans: ReadonlyMap<string, Plan>;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Resolves a slug or an alias. */
  readonly resolve: (slugOrAlias: string) => Model | undefined;
};
