// The interface of sign-in for the rest of the program. Types only; `sign-in.ts` implements it.

import type {
  ReadSession,
  SignedIn,
  SignedInCustomer,
  SignedInOperator,
  Visit,
} from '../signed-in.ts';
import type { SignUpMode } from './dependencies.ts';
import type { People } from './people.ts';
import type { ListedSession } from './sessions.ts';

/** `Set-Cookie` lines for the answer. */
export type Cookies = readonly string[];

export type SignInOutcome = {
  readonly status: 'signed_in' | 'second_factor_required';
  readonly cookies: Cookies;
};

/** All throw `IdentityError`. */
export type RealmSignIn<Who extends SignedIn> = { readonly read: ReadSession<Who> } & Entrance &
  Recovery &
  SelfService &
  TwoFactor;

export type Entrance = {
  readonly signIn: (
    given: { readonly email: string; readonly password: string },
    visit: Visit,
  ) => Promise<SignInOutcome>;
  /** The second step, where the first one requires it. */
  readonly secondFactor: (code: string, visit: Visit) => Promise<SignInOutcome>;
  readonly signOut: (visit: Visit) => Promise<Cookies>;
};

export type Recovery = {
  /** Does not reveal whether the user exists; the mail is sent after the answer. */
  readonly forgotPassword: (email: string, visit: Visit) => Promise<void>;
  /** With the token of a mailed or printed link. A new user is signed in. */
  readonly resetPassword: (
    given: { readonly token: string; readonly password: string },
    visit: Visit,
  ) => Promise<SignInOutcome | undefined>;
};

export type SelfService = {
  readonly changePassword: (
    who: SignedIn,
    given: { readonly current: string; readonly password: string },
    visit: Visit,
  ) => Promise<Cookies>;
  readonly stepUp: (
    who: SignedIn,
    password: string,
    visit: Visit,
  ) => Promise<{ readonly provenAt: number; readonly cookies: Cookies }>;
  readonly sessions: (who: SignedIn) => Promise<readonly ListedSession[]>;
  readonly endSession: (who: SignedIn, id: string, visit: Visit) => Promise<void>;
  /** Ends all sessions except that of the request. */
  readonly endOtherSessions: (who: SignedIn, visit: Visit) => Promise<void>;
};

export type TwoFactor = {
  readonly startTwoFactor: (
    who: SignedIn,
  ) => Promise<{ readonly uri: string; readonly secret: string }>;
  /** Returns the recovery codes, which are shown only once; ends the other sessions. */
  readonly confirmTwoFactor: (
    who: SignedIn,
    code: string,
    visit: Visit,
  ) => Promise<{ readonly codes: readonly string[]; readonly cookies: Cookies }>;
  readonly disableTwoFactor: (who: SignedIn, visit: Visit) => Promise<Cookies>;
  readonly renewRecoveryCodes: (who: SignedIn, visit: Visit) => Promise<readonly string[]>;
  /** `undefined` without a second factor. */
  readonly recoveryCodesLeft: (who: SignedIn) => Promise<number | undefined>;
};

export type SignUp = {
  /** Behaves the same for free and taken addresses. */
  readonly signUp: (
    given: {
      readonly email: string;
      readonly password: string;
      readonly invite?: string | undefined;
    },
    visit: Visit,
  ) => Promise<void>;
  readonly verifyEmail: (
    given: { readonly token: string; readonly password: string },
    visit: Visit,
  ) => Promise<SignInOutcome>;
};

export type Deletion = {
  /** When the requested deletion is due, in Unix milliseconds. */
  readonly deletionDueAt: (accountId: string) => Promise<number | undefined>;
  /** Returns when it is due. */
  readonly askDeletion: (who: SignedInCustomer, visit: Visit) => Promise<number>;
  readonly takeDeletionBack: (who: SignedInCustomer, visit: Visit) => Promise<void>;
};

export type CustomerSignIn = RealmSignIn<SignedInCustomer> & SignUp & Deletion;

export type SignIn = People & {
  readonly mode: SignUpMode;
  readonly customer: CustomerSignIn;
  readonly operator: RealmSignIn<SignedInOperator>;
  /** The pages for printed tokens. */
  readonly links: {
    readonly invite: (token: string) => string;
    readonly welcome: (token: string) => string;
  };
  /** Removes what has expired and finishes due deletions; call it every minute. */
  readonly sweep: () => Promise<void>;
  /** Resolves once the work deferred until after an answer is done. */
  readonly settled: () => Promise<void>;
};
