// What the rest of the program knows of sign-in. Types alone; made by `sign-in.ts`.

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
  /** The second step, where the first asked for it. */
  readonly secondFactor: (code: string, visit: Visit) => Promise<SignInOutcome>;
  readonly signOut: (visit: Visit) => Promise<Cookies>;
};

export type Recovery = {
  /** Says nothing about whether there is such a user; the mail leaves after the answer. */
  readonly forgotPassword: (email: string, visit: Visit) => Promise<void>;
  /** With the token of a mailed or printed link. */
  readonly resetPassword: (
    given: { readonly token: string; readonly password: string },
    visit: Visit,
  ) => Promise<void>;
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
  /** Ends all but the session of the request. */
  readonly endOtherSessions: (who: SignedIn, visit: Visit) => Promise<void>;
};

export type TwoFactor = {
  readonly startTwoFactor: (
    who: SignedIn,
  ) => Promise<{ readonly uri: string; readonly secret: string }>;
  /** Answers the recovery codes, which are readable once; ends the other sessions. */
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
  /** The same for addresses that are taken and that are not. */
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
  /** Unix milliseconds of the deletion that its owner has asked for. */
  readonly deletionDueAt: (accountId: string) => Promise<number | undefined>;
  /** Answers when it is due. */
  readonly askDeletion: (who: SignedInCustomer, visit: Visit) => Promise<number>;
  readonly takeDeletionBack: (who: SignedInCustomer, visit: Visit) => Promise<void>;
};

export type CustomerSignIn = RealmSignIn<SignedInCustomer> & SignUp & Deletion;

export type SignIn = People & {
  readonly mode: SignUpMode;
  readonly customer: CustomerSignIn;
  readonly operator: RealmSignIn<SignedInOperator>;
  /** The pages that printed tokens are for. */
  readonly links: {
    readonly invite: (token: string) => string;
    readonly welcome: (token: string) => string;
  };
  /** Removes what has expired and finishes deletions that are due; call it every minute. */
  readonly sweep: () => Promise<void>;
  /** Resolves once the work that waited for an answer to leave is done. */
  readonly settled: () => Promise<void>;
};
