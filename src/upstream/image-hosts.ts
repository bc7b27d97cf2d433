// Checks the hosts of images that a model server would fetch: a name may lead to a network that no
// customer should reach. A name that does not resolve here, or not in time, passes: it leads nowhere
// that this server knows, and servers with a private address get no image addresses.

import { withTimeout } from '../async/timeout.ts';
import { isPrivateAddress } from '../core/private-address.ts';
import { createResolver, type Lookup } from './resolver.ts';

const WAIT_MS = 2_000;

/** Finds a host that leads to a private network. Never rejects. */
export type FindPrivateHost = (hosts: readonly string[]) => Promise<string | undefined>;

/** Apart from the system's resolver, so that customers' names never delay those of upstreams. */
export const imageLookup: Lookup = async (hostname) => {
  const found = await Bun.dns.lookup(hostname, { socketType: 'tcp', backend: 'c-ares' });
  return [...new Set(found.map(({ address }) => address))];
};

export function createImageHosts(dependencies: {
  readonly lookup: Lookup;
  readonly monotonic: () => number;
}): FindPrivateHost {
  const { resolve } = createResolver(dependencies);
  return async (hosts) => {
    const isPrivate = async (host: string): Promise<boolean> => {
      const addresses = await withTimeout(WAIT_MS, resolve(host, true));
      return Array.isArray(addresses) && addresses.some(isPrivateAddress);
    };
    const found = await Promise.all(hosts.map(isPrivate));
    return hosts.find((_, at) => found[at] === true);
  };
}
