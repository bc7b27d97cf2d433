// Signing in and out, proving the password again, and looking after one's sessions: the same for
// customers and for operators. Passwords at sign-in, the second factor and new sessions are the
// library's work; how often somebody may try, and what everybody else gets to know, is decided here.

import { createHash } from 'node:crypto';
import { and, eq, gt } from 'drizzle-orm';
import { challenges } from '../../store/sign-in-tables.ts';
import { IdentityError } from '../error.ts';
import { actorOf, type Realm, type SignedIn } from '../signed-in.ts';
import type { Cookies, RealmSignIn, SignInOutcome, Visit } from './contract.ts';
import type { Library } from './library.ts';
import {
  challengeCookieName,
  challengeOver,
  cookiesBack,
  passedCookies,
  refusalOfLibrary,
  shownHeaders,
  wrongCode,
  wrongCredentials,
} from './library-call.ts';
import { changedMail } from './mails.ts';
import { actorOfUser, type Parts, signInEmail } from './parts.ts';
import { mayBePassword, requirePassword } from './passwords.ts';
import { cookieOf, type Sessions } from './sessions.ts';
import type { User } from './users.ts';

export type RealmParts = Parts & {
  readonly realm: Realm;
  readonly sessions: Sessions;
  /** Loads the library when it is needed first. */
  readonly library: () => Promise<Library>;
};

type Entrance<Who extends SignedIn> = Pick<
  RealmSignIn<Who>,
  | 'signIn'
  | 'secondFactor'
  | 'signOut'
  | 'changePassword'
  | 'stepUp'
  | 'sessions'
  | 'endSession'
  | 'endOtherSessions'
>;

export function createEntrance<Who extends SignedIn>(parts: RealmParts): Entrance<Who> {
  const { realm, database, clock, passwords, throttle, tokens, users, sessions, audit } = parts;

  /** A browser has one session: whatever it had before ends with a right password. */
  async function leaveBefore({ headers }: Visit): Promise<void> {
    const before = await sessions.read(headers);
    if (before !== undefined) await sessions.end(before.userId, before.id);
  }

  /** Whoever knew a password that was changed while it was looked at is let in nowhere. */
  async function requireUnchanged(
    user: User,
    hash: string | undefined,
    entered: Headers,
  ): Promise<void> {
    // One that is being changed now ends the sessions that it finds: this one, or it waits for us.
    const now = await database.transaction(() => users.passwordOf(user.id));
    if (now === hash) return;
    const session = await sessions.read(cookiesBack(passedCookies(entered, realm)));
    if (session !== undefined) await sessions.end(session.userId, session.id);
    await users.forgetChallenges(user.id);
    throw wrongCredentials();
  }

  async function admitted(
    user: User,
    headers: Headers,
    visit: Visit,
    how: string,
  ): Promise<SignInOutcome> {
    await database.transaction(async () => {
      await leaveBefore(visit);
      await audit(user, 'user.signed_in', actorOfUser(user, visit.address), { with: how });
    });
    return { status: 'signed_in', cookies: passedCookies(headers, realm) };
  }

  /** Whose sign-in waits for a code, by the cookie of the challenge. */
  async function challenged({ headers }: Visit): Promise<User> {
    const identifier = cookieOf(headers, challengeCookieName(realm))?.replace(/\.[^.]*$/, '');
    const row =
      identifier === undefined
        ? undefined
        : await parts.database.db
            .select()
            .from(challenges)
            .where(
              and(
                eq(challenges.realm, realm),
                eq(challenges.identifier, storedIdentifier(identifier)),
                // The library has written it by the real time.
                gt(challenges.expiresAt, Date.now()),
              ),
            )
            .get();
    const user = row === undefined ? undefined : await users.get(row.value);
    if (user === undefined) throw challengeOver();
    return user;
  }

  /** Answers the hash that was right. Throws `invalid_credentials` and `too_many_attempts`. */
  async function prove({ userId, email }: Who, password: string, { address }: Visit) {
    const entry = await throttle.enter({ realm, kind: 'password', name: email, address });
    const hash = await users.passwordOf(userId);
    if (hash === undefined || !(await passwords.verify(password, hash))) throw wrongPassword();
    if ((await users.passwordOf(userId)) !== hash) throw wrongPassword();
    await entry.succeeded();
    return hash;
  }

  return {
    async signIn(given, visit) {
      const email = signInEmail(given.email);
      const { address } = visit;
      const entry = await throttle.enter({ realm, kind: 'password', name: email, address });
      if (!mayBePassword(given.password)) throw wrongCredentials();
      const before = await users.find(realm, email);
      const hash = before === undefined ? undefined : await users.passwordOf(before.id);
      const library = await parts.library();
      const { headers, response } = await library.api
        .signInEmail({
          body: { email, password: given.password },
          headers: shownHeaders(visit),
          returnHeaders: true,
        })
        .catch(async (error: unknown) => {
          const refusal = refusalOfLibrary(error);
          if (refusal === error) await entry.dropped();
          throw refusal;
        });
      await entry.succeeded();
      const user = await users.find(realm, email);
      if (user === undefined) throw wrongCredentials();
      await requireUnchanged(user, hash, headers);
      if ('twoFactorRedirect' in response) {
        await leaveBefore(visit);
        return { status: 'second_factor_required', cookies: passedCookies(headers, realm) };
      }
      return admitted(user, headers, visit, 'password');
    },

    async secondFactor(given, visit) {
      const user = await challenged(visit);
      const hash = await users.passwordOf(user.id);
      const code = normaliseCode(given);
      const { address } = visit;
      const entry = await throttle.enter({ realm, kind: 'code', name: user.id, address });
      const isTotp = /^\d{6}$/.test(code);
      const library = await parts.library();
      const asked = {
        body: { code },
        headers: shownHeaders(visit, challengeCookieName(realm)),
        returnHeaders: true,
      } as const;
      let headers: Headers;
      try {
        if (isTotp && !(await tokens.claimCode(realm, user.id, code))) throw wrongCode();
        ({ headers } = isTotp
          ? await library.api.verifyTOTP(asked)
          : await library.api.verifyBackupCode(asked));
        await entry.succeeded();
      } catch (error) {
        const refusal = refusalOfLibrary(error);
        if (isTotp && error !== refusal) await tokens.releaseCode(user.id, code);
        if (!(refusal instanceof IdentityError)) await entry.dropped();
        else if (refusal.code === 'invalid_code') {
          await database.transaction(() =>
            audit(user, 'user.second_factor_failed', actorOfUser(user, address)),
          );
        }
        throw refusal;
      }
      await requireUnchanged(user, hash, headers);
      return admitted(user, headers, visit, isTotp ? 'password and code' : 'recovery code');
    },

    async signOut(visit) {
      const row = await sessions.read(visit.headers);
      if (row !== undefined) {
        await database.transaction(async () => {
          await sessions.end(row.userId, row.id);
          const user = { id: row.userId, accountId: row.accountId, email: row.email };
          await audit(user, 'user.signed_out', actorOfUser(user, visit.address));
        });
      }
      return [sessions.farewell()];
    },

    async stepUp(who, password, visit) {
      await prove(who, password, visit);
      const provenAt = clock();
      return { provenAt, cookies: [await sessions.renew(who.sessionId, { provenAt })] };
    },

    async changePassword(who, { current, password }, visit) {
      const wanted = requirePassword(password);
      const before = await prove(who, current, visit);
      const hash = await passwords.hash(wanted);
      const cookies = await database.transaction(async (): Promise<Cookies> => {
        // The owner may have set another one, because somebody else knows this one.
        if ((await users.passwordOf(who.userId)) !== before) throw wrongPassword();
        await users.setPassword(who.userId, hash);
        await tokens.removeFor(realm, who.email, ['reset']);
        const ended = await sessions.endAll(who.userId, who.sessionId);
        await audit(subjectOf(who), 'user.password_changed', actorOf(who, visit.address), {
          sessions_ended: ended,
        });
        return [await sessions.renew(who.sessionId, { provenAt: clock() })];
      });
      parts.later(() =>
        parts.mail({ to: who.email, ...changedMail('Your password was changed', realm) }),
      );
      return cookies;
    },

    sessions: ({ userId }) => sessions.list(userId),

    async endSession(who, id, visit) {
      await database.transaction(async () => {
        if (!(await sessions.end(who.userId, id))) {
          throw new IdentityError('session_not_found', 'There is no such session.');
        }
        await audit(subjectOf(who), 'user.sessions_ended', actorOf(who, visit.address), {
          ended: 1,
        });
      });
    },

    async endOtherSessions(who, visit) {
      await database.transaction(async () => {
        const ended = await sessions.endAll(who.userId, who.sessionId);
        if (ended === 0) return;
        await audit(subjectOf(who), 'user.sessions_ended', actorOf(who, visit.address), { ended });
      });
    },
  };
}

function wrongPassword(): IdentityError {
  return new IdentityError('invalid_credentials', 'The password is not right.');
}

/** Who is signed in, as the subject of an event. */
export function subjectOf(who: SignedIn): Pick<User, 'id' | 'accountId'> {
  return { id: who.userId, accountId: who.realm === 'customer' ? who.accountId : null };
}

/** Spaces, and the case of recovery codes, do not matter. */
export function normaliseCode(text: string): string {
  return text.replace(/\s+/g, '').toLowerCase();
}

/** As the library stores what a challenge is found by. */
function storedIdentifier(identifier: string): string {
  return createHash('sha256').update(identifier).digest('base64url');
}
