// Where the requests of an upstream go. Connections to one origin are interchangeable.

import type { RemoteUpstream } from '../transport.ts';

export type Origin = {
  /** Tells origins apart, in the pool and among TLS sessions. */
  readonly key: string;
  readonly isTls: boolean;
  /** A name or an address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** For the `host` field. */
  readonly host: string;
  /** What stands before the path of a call; no slash at its end. */
  readonly pathPrefix: string;
  readonly allowLinkLocal: boolean;
};

/** Of one upstream in one state of the catalog; the catalog has seen to the base URL's shape. */
export function originOf({ baseUrl, allowLinkLocal }: RemoteUpstream): Origin {
  const url = new URL(baseUrl);
  const isTls = url.protocol === 'https:';
  return {
    // What one upstream may reach is not offered to another that may not.
    key: `${url.origin} ${allowLinkLocal}`,
    isTls,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    host: url.host,
    pathPrefix: url.pathname.replace(/\/+$/, ''),
    allowLinkLocal,
  };
}
