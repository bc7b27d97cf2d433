// The door: from what a request presents to the facts about its key, or the refusal that comes
// first in the precedence table. Every path of the API that needs a key goes through here.

import { refusedByStanding } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import type { OperatorState } from '../core/operator.ts';
import type { Authenticator, KeyFacts } from './authenticate.ts';

type Presented = {
  readonly authorization: string | null;
  readonly xApiKey: string | null;
  /**
   * The client's network address, already taken from a trusted proxy's header where it applies.
   * Asked for only where networks are blocked, because finding it out takes time.
   */
  readonly address: () => string;
};

/** `operator` is what was set when the request began. Throws the refusal as a `GatewayError`. */
export type Access = (
  presented: Presented,
  operator: Pick<OperatorState, 'blocklist' | 'maintenance'>,
) => KeyFacts;

export function createAccess(dependencies: { readonly authenticator: Authenticator }): Access {
  const { authenticator } = dependencies;
  return ({ authorization, xApiKey, address }, { blocklist, maintenance }) => {
    const facts = authenticator.authenticate(authorization, xApiKey);
    const code = refusedByStanding({
      emailVerified: facts.emailVerified,
      standing: facts.standing,
      accountBlocked: blocklist.accountBlocked(facts.accountId),
      keyBlocked: blocklist.keyBlocked(facts.keyId),
      addressBlocked: blocklist.blocksNetworks && blocklist.addressBlocked(address()),
      maintenance: maintenance.on,
    });
    if (code === undefined) return facts;
    const { message } = maintenance;
    throw new GatewayError(
      code,
      code === 'maintenance_mode' && message !== undefined ? { message } : {},
    );
  };
}
