// By which names the operator's own pages and numbers are asked for. A page of a stranger can have the
// browser resolve its own name to this machine (DNS rebinding); the browser then sends that name as
// Host. Called before /metrics, /readyz and the console.

import { createNetworkSet, normaliseAddress } from '../identity/address.ts';

export type KnownHosts = {
  /** Whether a request for this Host may be answered. From other machines every Host may. */
  readonly isKnown: (host: string | null, socketAddress: string) => boolean;
};

/** `names` are hosts that the operator has set, without a port: names or addresses. */
export function createKnownHosts(names: readonly string[]): KnownHosts {
  const loopback = createNetworkSet(['127.0.0.0/8', '::1']);
  const known = new Set(['localhost', ...names].map(normaliseHost));
  return {
    isKnown(host, socketAddress) {
      // Browsers always send one; health checks of HTTP/1.0 do not. An unknown peer may be near.
      if (!host || (socketAddress !== '' && !loopback.contains(socketAddress))) return true;
      const name = normaliseHost(host.trim().replace(/:\d*$/, ''));
      return known.has(name) || loopback.contains(name);
    },
  };
}

/** The one spelling of an address; names differ neither by case nor by the dot of the root. */
function normaliseHost(host: string): string {
  return normaliseAddress(host) ?? host.toLowerCase().replace(/\.$/, '');
}
