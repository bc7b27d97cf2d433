// Authorizes every request that generates text: turns the presented key or session into the facts
// about the caller, or throws the first refusal of the precedence table.

import { eq, sql } from 'drizzle-orm';
import type { Awaitable } from '../async/awaitable.ts';
import { refusedByStanding } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import { PLAYGROUND_KEY_ID } from '../core/id.ts';
import type { ServiceState } from '../core/service-state.ts';
import type { Database } from '../store/contract.ts';
import { accounts, type KeyPause } from '../store/tables.ts';
import type { Authenticator, KeyFacts } from './authenticate.ts';

/** The settings that were effective when the request began. */
type Settings = Pick<ServiceState, 'blocklist' | 'maintenance'>;

type Presented = {
  readonly authorization: string | null;
  readonly xApiKey: string | null;
  /**
   * The client's network address, after trusted proxies were resolved. Called only where networks
   * are blocked or the key has a list of them, because resolving takes time.
   */
  readonly address: () => string;
};

/** Authorizes a request of the API. Throws the refusal as a `GatewayError`. */
export type Access = (presented: Presented, operator: Settings) => Awaitable<KeyFacts>;

export function createAccess(dependencies: { readonly authenticator: Authenticator }): Access {
  const { authenticator } = dependencies;
  return (presented, operator) => {
    const { authorization, xApiKey } = presented;
    const facts = authenticator.authenticate(authorization, xApiKey);
    return facts instanceof Promise
      ? facts.then((late) => requireStanding(late, operator, presented))
      : requireStanding(facts, operator, presented);
  };
}

/** A user whose session was already read, and the address of the request. */
type SignedIn = { readonly accountId: string; readonly address: string };

/** Authorizes a request of the playground. Throws the refusal as a `GatewayError`. */
export type PlaygroundAccess = (who: SignedIn, operator: Settings) => Promise<KeyFacts>;

/** Reads the account for every request: a session does not prove its standing. */
export function createPlaygroundAccess(database: Database): PlaygroundAccess {
  const query = database.db
    .select({
      accountId: accounts.id,
      plan: accounts.plan,
      planSince: accounts.planSince,
      standing: accounts.standing,
      emailVerified: accounts.emailVerified,
    })
    .from(accounts)
    .where(eq(accounts.id, sql.placeholder('accountId')))
    .prepare();
  return async ({ accountId, address }, operator) => {
    const account = await query.get({ accountId });
    if (account === undefined) throw new GatewayError('account_inactive');
    const facts = { ...account, keyId: PLAYGROUND_KEY_ID };
    return requireStanding(facts, operator, { address: () => address });
  };
}

/** The facts, if the account and its key are in good standing. */
function requireStanding(
  facts: KeyFacts,
  { blocklist, maintenance }: Settings,
  from: Pick<Presented, 'address'>,
): KeyFacts {
  const { accountId, keyId, emailVerified, standing, bounds } = facts;
  const code = refusedByStanding({
    emailVerified,
    standing,
    accountBlocked: blocklist.accountBlocked(accountId),
    keyBlocked: blocklist.keyBlocked(keyId),
    keyPaused: bounds?.paused !== undefined,
    addressBlocked: blocklist.blocksNetworks && blocklist.addressBlocked(from.address()),
    addressExcluded: bounds?.networks?.contains(from.address()) === false,
    maintenance: maintenance.on,
  });
  if (code === undefined) return facts;
  const message = code === 'key_paused' ? pauseText(bounds?.paused) : maintenance.message;
  const isOwn = code !== 'key_paused' && code !== 'maintenance_mode';
  throw new GatewayError(code, {
    caller: facts,
    ...(!isOwn && message !== undefined && { message }),
  });
}

/** What to do about a pause depends on who has paused; undefined: the table's text. */
function pauseText(reason: KeyPause | undefined): string | undefined {
  if (reason === 'runaway') {
    return 'This API key was paused because its spend was far above its habit. Check what uses it, then resume it on the Keys page of the dashboard.';
  }
  if (reason === 'operator') {
    return 'The operator of this service has paused this API key. Ask the operator, or use another key.';
  }
  return undefined;
}
