// Who is signed in to the dashboard or to the operator's console, as the rest of the program knows
// it: no code of `sign-in/`, which does the signing in.

import type { Actor } from './audit.ts';

export type Realm = 'customer' | 'operator';

type Session = {
  readonly userId: string;
  /** Names the session in lists; it is not what the cookie holds. */
  readonly sessionId: string;
  readonly email: string;
  readonly twoFactor: boolean;
  /** Unix milliseconds of the last proof of the password, at sign-in or since. */
  readonly provenAt: number;
  /** Unix milliseconds of its end; without requests it ends sooner. */
  readonly expiresAt: number;
};

export type SignedInCustomer = Session & {
  readonly realm: 'customer';
  readonly accountId: string;
};

export type SignedInOperator = Session & { readonly realm: 'operator' };

export type SignedIn = SignedInCustomer | SignedInOperator;

/** A request, as far as sign-in looks at it. */
export type Visit = {
  readonly headers: Headers;
  /** The client's, already taken from a trusted proxy's header where it applies. */
  readonly address: string;
};

/** Reads the cookie of a request. Resolves to `undefined` without a session that lasts. */
export type ReadSession<Who extends SignedIn> = (
  headers: Headers,
  look?: SessionLook,
) => Promise<Who | undefined>;

/** `quiet`: a page polls on its own, which does not extend the session. */
export type SessionLook = { readonly quiet?: boolean };

/** Who acts, in the audit trail: the account of a customer, or the operator by name. */
export function actorOf(who: SignedIn, address: string): Actor {
  const name = who.realm === 'customer' ? who.accountId : `operator:${who.email}`;
  return { name, address };
}
