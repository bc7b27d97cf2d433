// Checks the Host header of requests for the operator's pages and metrics. With DNS rebinding, a
// hostile page can make the browser send requests to this machine under the page's own name.
// Applies to /metrics, /readyz and the console.

import { createNetworkSet, normaliseAddress } from '../identity/address.ts';

export type KnownHosts = {
  /** Whether a request for this Host may be answered. Remote clients may use any Host. */
  readonly isKnown: (host: string | null, socketAddress: string) => boolean;
};

/** `names` are the hosts set by the operator, without ports: names or addresses. */
export function createKnownHosts(names: readonly string[]): KnownHosts {
  const loopback = createNetworkSet(['127.0.0.0/8', '::1']);
  const known = new Set(['localhost', ...names].map(normaliseHost));
  return {
    isKnown(host, socketAddress) {
      // Browsers always send a Host; HTTP/1.0 health checks do not. An unknown peer may be local.
      if (!host || (socketAddress !== '' && !loopback.contains(socketAddress))) return true;
      const name = normaliseHost(host.trim().replace(/:\d*$/, ''));
      return known.has(name) || loopback.contains(name);
    },
  };
}

/** Normalizes an address or name: case and the trailing root dot do not matter. */
function normaliseHost(host: string): string {
  return normaliseAddress(host) ?? host.toLowerCase().replace(/\.$/, '');
}
