// What the two transports have in common: the call, its answer, and how a body is read. The
// contract between the connection client and the attempts, which call it through client.ts.

import type { Awaitable } from '../async/awaitable.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { Upstream } from '../core/model.ts';
import type { Descriptors } from './descriptors.ts';
import type { Lookup, Resolver } from './resolver.ts';
import type { StopSignal } from './stop.ts';

export type UpstreamClientDependencies = {
  readonly fetch: (url: string, init: BunFetchRequestInit) => Promise<Response>;
  /** Stands in for the network where the upstream is the one inside the binary. */
  readonly answerDemo: (body: string) => Response;
  /** Names to addresses, as the system does it. */
  readonly lookup: Lookup;
  /** Unix milliseconds, for dates in answers. */
  readonly clock: () => number;
  /** Milliseconds, of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Sent to every upstream: some answer nobody who does not say what it is. */
  readonly userAgent: string;
  /** The schemes, as in `https:`, for which the environment names a proxy. */
  readonly proxiedSchemes: ReadonlySet<string>;
  readonly descriptors: Pick<Descriptors, 'lend' | 'returned'>;
};

/** What both transports are made of; each uses what it needs. */
export type TransportDependencies = UpstreamClientDependencies & { readonly resolver: Resolver };

export type Read = { readonly done: boolean; readonly value?: Uint8Array | undefined };

export type ByteReader = {
  /** Rejects where the body breaks off: what a connection cut is never its end. */
  readonly read: () => Awaitable<Read>;
  readonly cancel: () => Promise<void>;
};

export type UpstreamAnswer = {
  readonly status: number;
  readonly isJson: boolean;
  /** How long the upstream wants to be left alone, where it says so. */
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
  /** Until a new connection is made, name and TLS included. */
  readonly connectMs: number;
  /** Not on a kept connection: one of those has just broken under this very request. */
  readonly newConnection?: boolean | undefined;
  readonly signal: StopSignal;
};

export type UpstreamClient = {
  readonly send: (call: UpstreamRequest) => Promise<UpstreamAnswer | UpstreamFailure>;
};

/** An upstream on the network. */
export type RemoteUpstream = Exclude<Upstream, { readonly dialect: 'demo' }>;

export const GIVEN_UP: UpstreamFailure = { class: 'cut', detail: 'the request was given up' };

/** Given up before there was a connection: the upstream has not got the request. */
export const UNCONNECTED: UpstreamFailure = { ...GIVEN_UP, phase: 'connect' };

/** Of `content-type`, in any spelling and with any parameters; not relatives, such as lines of JSON. */
const JSON_TYPE = /^application\/json *(;|$)/i;

export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType);
}
