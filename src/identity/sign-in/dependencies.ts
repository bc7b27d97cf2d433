// What the parts of sign-in share: stores, the audit trail, and work deferred until after the
// answer, so that response times do not reveal whether an address is known.

import type { Awaitable } from '../../async/awaitable.ts';
import type { Service } from '../../core/service.ts';
import { type Accounts, normaliseEmail } from '../accounts.ts';
import { type Actor, type AuditAction, auditChange, type Basics } from '../audit.ts';
import { IdentityError } from '../error.ts';
import type { Realm, SignedIn, Visit } from '../signed-in.ts';
import type { Challenges } from './challenges.ts';
import type { Letter, SendMail, WriteMail } from './mails.ts';
import type { Passwords } from './passwords.ts';
import type { SecondFactors } from './second-factors.ts';
import type { Sessions } from './sessions.ts';
import type { Notice, Throttle } from './throttle.ts';
import type { SignInTokens } from './tokens.ts';
import type { User, Users } from './users.ts';

/** Who may sign up: all visitors, invited ones, or none. */
export type SignUpMode = 'open' | 'invite' | 'closed';

export type SignInDependencies = Basics & {
  readonly accounts: Accounts;
  /** From `signInSecret`. */
  readonly secret: string;
  readonly mode: SignUpMode;
  readonly mail: SendMail;
  readonly writeMail: WriteMail;
  /** What authenticator apps show. */
  readonly service: () => Service;
  /** The URLs of the pages, without a trailing slash: `https://example.com/dashboard`. */
  readonly pages: Readonly<Record<Realm, () => string>>;
  /** Called when an account is being closed: data kept for it elsewhere can be removed. */
  readonly onDeletion: (accountId: string) => Promise<void>;
  /** Reports a failure after the answer was sent. */
  readonly onTrouble: (message: string, error: unknown) => void;
};

export type Parts = SignInDependencies & {
  readonly throttle: Throttle;
  readonly tokens: SignInTokens;
  readonly users: Users;
  readonly secondFactors: SecondFactors;
  /** Resolves once the mail is written, not sent. */
  readonly mailTo: (email: string, ...written: Parameters<WriteMail>) => Promise<void>;
  /** Runs `work` after the answer was sent. */
  readonly later: (work: () => Awaitable<void>) => void;
  /** Call inside the transaction of the change. */
  readonly audit: (
    user: Pick<User, 'id' | 'accountId'>,
    action: AuditAction,
    actor: Actor,
    detail?: Readonly<Record<string, string | number | boolean | null>>,
  ) => Promise<void>;
};

/** The parts of one realm: customers, or operators. */
export type RealmParts = Parts & {
  readonly realm: Realm;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly challenges: Challenges;
};

export function createAudit(dependencies: Basics): Parts['audit'] {
  return ({ id, accountId }, action, actor, detail) =>
    auditChange({ ...dependencies, actor }, action, id, detail, accountId ?? undefined);
}

/** A user as an actor of the audit trail, like `actorOf` for a signed-in one. */
export function actorOfUser(
  user: Pick<User, 'accountId' | 'email'>,
  address: string,
): Exclude<Actor, string> {
  return { name: user.accountId ?? `operator:${user.email}`, address };
}

/** The signed-in user as the subject of an event. */
export function subjectOf(who: SignedIn): Pick<User, 'id' | 'accountId'> {
  return { id: who.userId, accountId: who.realm === 'customer' ? who.accountId : null };
}

/** Mails users about a change of their own, after the answer; `mayMail` suppresses repeats. */
export function mailNotice(
  { later, throttle, mailTo }: Pick<Parts, 'later' | 'throttle' | 'mailTo'>,
  { realm, email }: SignedIn,
  { address, headers }: Visit,
  kind: Notice,
  letter: Letter,
): void {
  later(async () => {
    if (await throttle.mayMail(realm, email, address, kind)) await mailTo(email, letter, headers);
  });
}

/** Stricter than for accounts: no quoted names, no letters beyond ASCII. */
const EMAIL_SHAPE =
  /^(?!\.)(?!.*\.\.)[a-z0-9_'+\-.]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

/** Normalizes an address for sign-in. Throws `invalid_email`. */
export function signInEmail(text: string): string {
  const email = normaliseEmail(text);
  if (EMAIL_SHAPE.test(email)) return email;
  throw new IdentityError(
    'invalid_email',
    'The e-mail address is not valid. It needs the form name@example.com, in plain letters.',
  );
}

export function createLater(onTrouble: SignInDependencies['onTrouble']) {
  const waiting = new Set<Promise<void>>();

  async function attempt(work: () => Awaitable<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      onTrouble('sign-in: work after an answer failed', error);
    }
  }

  return {
    later(work: () => Awaitable<void>): void {
      const done = new Promise<void>((resolve) => {
        setTimeout(() => resolve(attempt(work)), 0);
      });
      waiting.add(done);
      void done.then(() => waiting.delete(done));
    },
    async settled(): Promise<void> {
      while (waiting.size > 0) await Promise.all(waiting);
    },
  };
}
