// The signed-in user of the dashboard or the console, for the rest of the program. Contains no code
// of `sign-in/`, which does the signing in.

import type { Role } from '../core/role.ts';
import type { Actor } from './audit.ts';
import type { TokenCaller } from './operator-tokens.ts';

export type Realm = 'customer' | 'operator';

type Session = {
  readonly userId: string;
  /** Identifies the session in lists; not the cookie's secret. */
  readonly sessionId: string;
  readonly email: string;
  readonly twoFactor: boolean;
  /** When the password was last entered, in Unix milliseconds. */
  readonly provenAt: number;
  /** Its latest end in Unix milliseconds; without requests it ends sooner. */
  readonly expiresAt: number;
};

export type SignedInCustomer = Session & {
  readonly realm: 'customer';
  readonly accountId: string;
};

export type SignedInOperator = Session & {
  readonly realm: 'operator';
  /** Read with every request, so a change takes effect at once. */
  readonly role: Role;
};

export type SignedIn = SignedInCustomer | SignedInOperator;

/** Who calls a row of the console that is open to tokens. */
export type OperatorCaller = SignedInOperator | TokenCaller;

/** The parts of a request that sign-in reads. */
export type Visit = {
  readonly headers: Headers;
  /** The client's address, after trusted proxies were resolved. */
  readonly address: string;
};

/** Reads the cookie of a request. Resolves to `undefined` without an active session. */
export type ReadSession<Who extends SignedIn> = (
  headers: Headers,
  look?: SessionLook,
) => Promise<Who | undefined>;

/** `quiet`: a page polls, which does not extend the session. */
export type SessionLook = { readonly quiet?: boolean };

/** The actor in the audit trail: the account of a customer, or the operator or token by name. */
export function actorOf(who: SignedIn | TokenCaller, address: string): Actor {
  if (who.realm === 'token') return { name: `token:${who.token.name}`, address };
  const name = who.realm === 'customer' ? who.accountId : `operator:${who.email}`;
  return { name, address };
}
