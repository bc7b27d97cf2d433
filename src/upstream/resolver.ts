// Resolves names for both transports. Results are cached for a while, and beyond that until a new
// result arrives, so that a failing resolver does not make upstreams unreachable. Forbidden
// addresses are refused here, after the lookup and before any connection.

import { isIP } from 'node:net';
import { withTimeout } from '../async/timeout.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import { isLinkLocal } from '../core/private-address.ts';
import { putLast } from '../core/recent.ts';

/** In the order of the system's resolver, best first. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export type Resolver = ReturnType<typeof createResolver>;

/** A typical TTL of services whose addresses change. */
const FRESH_MS = 30_000;

/** How long a stale result waits for the new one. */
const STALE_WAIT_MS = 1_000;

const FORBIDDEN: UpstreamFailure = {
  class: 'unreachable',
  phase: 'connect',
  detail:
    'its address is link-local or a metadata service; where this is meant, set allow_link_local = true for the upstream in the catalog',
};

const UNRESOLVED: UpstreamFailure = {
  class: 'unreachable',
  phase: 'connect',
  detail: 'its host name could not be resolved',
};

/** Customers name the hosts of images. Above this many, the one resolved longest ago is forgotten. */
const NAMES_MAX = 2_000;

type Known = { readonly addresses: readonly string[]; readonly until: number };

/** The system's resolver, with its hosts file, search list and preferences. */
export const systemLookup: Lookup = async (hostname) => {
  const found = await Bun.dns.lookup(hostname, { socketType: 'tcp', backend: 'system' });
  return [...new Set(found.map(({ address }) => address))];
};

/** `monotonic` is in milliseconds. */
export function createResolver(dependencies: {
  readonly lookup: Lookup;
  readonly monotonic: () => number;
}) {
  const { lookup, monotonic } = dependencies;
  const known = new Map<string, Known>();
  const pending = new Map<string, Promise<readonly string[] | undefined>>();

  /** Concurrent lookups of a name share one query. */
  function ask(hostname: string): Promise<readonly string[] | undefined> {
    const asked = pending.get(hostname);
    if (asked !== undefined) return asked;
    const answer = lookup(hostname)
      .catch(() => [])
      .then((addresses) => {
        pending.delete(hostname);
        if (addresses.length === 0) return known.get(hostname)?.addresses;
        putLast(known, hostname, { addresses, until: monotonic() + FRESH_MS }, NAMES_MAX);
        return addresses;
      });
    pending.set(hostname, answer);
    return answer;
  }

  async function addressesOf(hostname: string): Promise<readonly string[] | undefined> {
    if (isIP(hostname) !== 0) return [hostname];
    const old = known.get(hostname);
    if (old === undefined) return ask(hostname);
    if (monotonic() < old.until) return old.addresses;
    return withTimeout(STALE_WAIT_MS, ask(hostname), old.addresses);
  }

  return {
    /** Returns at least one address, or a failure. Never rejects. */
    async resolve(
      hostname: string,
      allowLinkLocal: boolean,
    ): Promise<readonly string[] | UpstreamFailure> {
      const addresses = await addressesOf(hostname);
      if (addresses === undefined) return UNRESOLVED;
      const allowed = allowLinkLocal ? addresses : addresses.filter((one) => !isLinkLocal(one));
      return allowed.length === 0 ? FORBIDDEN : allowed;
    },
    /** None of the addresses could be reached: the next call starts a new lookup. */
    forget(hostname: string): void {
      const old = known.get(hostname);
      if (old !== undefined) known.set(hostname, { ...old, until: 0 });
    },
  };
}
