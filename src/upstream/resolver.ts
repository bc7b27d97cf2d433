// Names to addresses, for both transports. Answers are kept for a while, and beyond that for as
// long as no new one comes: a resolver that is down must not take the upstreams with it. Addresses
// that no upstream should have are refused here, after the name and before any connection.

import { isIP } from 'node:net';
import { withTimeout } from '../async/timeout.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import { isLinkLocal } from '../core/link-local.ts';

/** As the system's resolver gives them: the best first. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export type Resolver = ReturnType<typeof createResolver>;

/** About what a name's own lifetime is where services move. */
const FRESH_MS = 30_000;

/** How long an old answer may wait for the new one. */
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

type Known = { readonly addresses: readonly string[]; readonly until: number };

/** The resolver of the system, with its hosts file, its search list and its preferences. */
export const systemLookup: Lookup = async (hostname) => {
  const found = await Bun.dns.lookup(hostname, { socketType: 'tcp', backend: 'system' });
  return [...new Set(found.map(({ address }) => address))];
};

/** `monotonic` in milliseconds. */
export function createResolver(dependencies: {
  readonly lookup: Lookup;
  readonly monotonic: () => number;
}) {
  const { lookup, monotonic } = dependencies;
  const known = new Map<string, Known>();
  const pending = new Map<string, Promise<readonly string[] | undefined>>();

  /** One question for a name at a time, whoever asks. */
  function ask(hostname: string): Promise<readonly string[] | undefined> {
    const asked = pending.get(hostname);
    if (asked !== undefined) return asked;
    const answer = lookup(hostname)
      .catch(() => [])
      .then((addresses) => {
        pending.delete(hostname);
        if (addresses.length === 0) return known.get(hostname)?.addresses;
        known.set(hostname, { addresses, until: monotonic() + FRESH_MS });
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
    /** At least one address. Never rejects. */
    async resolve(
      hostname: string,
      allowLinkLocal: boolean,
    ): Promise<readonly string[] | UpstreamFailure> {
      const addresses = await addressesOf(hostname);
      if (addresses === undefined) return UNRESOLVED;
      const allowed = allowLinkLocal ? addresses : addresses.filter((one) => !isLinkLocal(one));
      return allowed.length === 0 ? FORBIDDEN : allowed;
    },
    /** None of its addresses could be reached: the next call asks anew. */
    forget(hostname: string): void {
      const old = known.get(hostname);
      if (old !== undefined) known.set(hostname, { ...old, until: 0 });
    },
  };
}
