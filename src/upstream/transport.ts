// What both transports share: the call, its answer, and how a body is read. Attempts use it through
// client.ts.

import type { Awaitable } from '../async/awaitable.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { Upstream } from '../core/model.ts';
import type { TraceHeaders } from '../core/trace.ts';
import type { Descriptors } from './descriptors.ts';
import type { Lookup, Resolver } from './resolver.ts';
import type { StopSignal } from './stop.ts';

export type UpstreamClientDependencies = {
  readonly fetch: (url: string, init: BunFetchRequestInit) => Promise<Response>;
  /** Replaces the network for the built-in demo upstream. */
  readonly answerDemo: (body: string) => Response;
  /** Resolves names, by default as the system does. */
  readonly lookup: Lookup;
  /** Unix milliseconds, for dates in answers. */
  readonly clock: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Sent to every upstream: some refuse requests without it. */
  readonly userAgent: string;
  /** The schemes, such as `https:`, for which the environment names a proxy. */
  readonly proxiedSchemes: ReadonlySet<string>;
  readonly descriptors: Pick<Descriptors, 'lend' | 'returned'>;
};

/** The dependencies of both transports; each uses what it needs. */
export type TransportDependencies = UpstreamClientDependencies & { readonly resolver: Resolver };

export type Read = { readonly done: boolean; readonly value?: Uint8Array | undefined };

export type ByteReader = {
  /** Rejects if the body is truncated: a broken connection is never a regular end. */
  readonly read: () => Awaitable<Read>;
  readonly cancel: () => Promise<void>;
};

export type UpstreamAnswer = {
  readonly status: number;
  readonly isJson: boolean;
  /** The delay that the upstream requests, if any. */
  readonly retryAfterMs?: number | undefined;
  /** Reads the whole body, or fails above the limit of the decoder. */
  readonly text: () => Awaitable<string | UpstreamFailure>;
  readonly reader: () => ByteReader | undefined;
};

export type UpstreamRequest = {
  readonly upstream: Upstream;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The time limit for a new connection, including DNS and TLS. */
  readonly connectMs: number;
  /** Set after a kept-alive connection broke under this request. */
  readonly newConnection?: boolean | undefined;
  readonly trace?: TraceHeaders | undefined;
  /** It is not for a server with a private address. */
  readonly isForPublic?: boolean;
  readonly signal: StopSignal;
};

export type UpstreamClient = {
  readonly send: (call: UpstreamRequest) => Promise<UpstreamAnswer | UpstreamFailure>;
};

/** An upstream on the network. */
export type RemoteUpstream = Exclude<Upstream, { readonly dialect: 'demo' }>;

export const GIVEN_UP: UpstreamFailure = { class: 'cut', detail: 'the request was given up' };

/** Aborted before a connection existed: the upstream has not received the request. */
export const UNCONNECTED: UpstreamFailure = { ...GIVEN_UP, phase: 'connect' };

/**
 * Matches `content-type` in any spelling with any parameters, but not relatives such as JSON Lines.
 */
const JSON_TYPE = /^application\/json *(;|$)/i;

export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType);
}
