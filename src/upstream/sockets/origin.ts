// The origin of an upstream's requests. Connections to one origin are interchangeable.

import type { RemoteUpstream } from '../transport.ts';

export type Origin = {
  /** Identifies the origin in the pool and in the TLS session cache. */
  readonly key: string;
  readonly isTls: boolean;
  /** A name or an address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** For the `host` field. */
  readonly host: string;
  /** Before the path of a call, without a trailing slash. */
  readonly pathPrefix: string;
  /** Behind it; empty, or begins with a question mark. */
  readonly query: string;
  readonly allowLinkLocal: boolean;
};

/** For one upstream in one state of the catalog, which has validated the base URL. */
export function originOf({ baseUrl, allowLinkLocal }: RemoteUpstream): Origin {
  const url = new URL(baseUrl);
  const isTls = url.protocol === 'https:';
  return {
    // Keeps connections of an upstream that may use link-local addresses from one that may not.
    key: `${url.origin} ${allowLinkLocal}`,
    isTls,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    host: url.host,
    pathPrefix: url.pathname.replace(/\/+$/, ''),
    query: url.search,
    allowLinkLocal,
  };
}
