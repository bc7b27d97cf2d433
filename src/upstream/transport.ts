// What the two transports have in common: the call, its answer, and how a body is read. The
// contract between the connection client and the attempts, which call it through client.ts.

import type { UpstreamFailure } from '../core/failure.ts';
import type { Upstream } from '../core/model.ts';

export type ByteReader = {
  /** Rejects where the body breaks off: what a connection cut is never its end. */
  readonly read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  readonly cancel: () => Promise<void>;
};

export type UpstreamAnswer = {
  readonly status: number;
  readonly isJson: boolean;
  /** How long the upstream wants to be left alone, where it says so. */
  readonly retryAfterMs?: number;
  /** Reads the whole body, or fails above the limit of the decoder. */
  readonly text: () => Promise<string | UpstreamFailure>;
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
  readonly signal: AbortSignal;
};

export type UpstreamClient = {
  readonly send: (call: UpstreamRequest) => Promise<UpstreamAnswer | UpstreamFailure>;
};

/** An upstream on the network. */
export type RemoteUpstream = Exclude<Upstream, { readonly dialect: 'demo' }>;

export const GIVEN_UP: UpstreamFailure = { class: 'cut', detail: 'the request was given up' };

/** Given up before there was a connection: the upstream has not got the request. */
export const UNCONNECTED: UpstreamFailure = { ...GIVEN_UP, phase: 'connect' };

/** The one type, whatever its letters and parameters; not its relatives, such as lines of JSON. */
const JSON_TYPE = /^application\/json *(;|$)/i;

/** Of the value of `content-type`. */
export function isJsonType(contentType: string | null | undefined): boolean {
  return JSON_TYPE.test(contentType ?? '');
}
