// Signs customers and operators in and out: the password, then the second factor where there is
// one. Throttles attempts before it checks a secret, and answers an unknown address like a wrong
// password, in the same time.

import { IdentityError } from '../error.ts';
import type { Visit } from '../signed-in.ts';
import type { Entrance, SignInOutcome } from './contract.ts';
import { actorOfUser, type RealmParts, signInEmail } from './dependencies.ts';
import { mayBePassword, type Waiter } from './passwords.ts';
import type { User } from './users.ts';

type Credentials = { readonly email: string; readonly password: string };

export function createEntrance(parts: RealmParts): Entrance {
  return {
    signIn: (given, visit) => signIn(parts, given, visit),
    secondFactor: (code, visit) => secondFactor(parts, code, visit),
    signOut: (visit) => signOut(parts, visit),
  };
}

async function signIn(
  parts: RealmParts,
  { email: given, password }: Credentials,
  visit: Visit,
): Promise<SignInOutcome> {
  const { realm, database, throttle, users, sessions, challenges } = parts;
  const email = signInEmail(given);
  const { address } = visit;
  const entry = await throttle.enter({ realm, kind: 'password', name: email, address });
  if (!mayBePassword(password)) throw wrongCredentials();
  const user = await users.find(realm, email);
  const hash = user === undefined ? undefined : await users.passwordOf(user.id);
  const waiter = entry.isKnown ? 'owner' : 'stranger';
  const isRight = await entry.checked(matches(parts, password, hash, waiter));
  if (!isRight || user === undefined) throw wrongCredentials();
  await entry.succeeded();
  return database.transaction(async () => {
    // The user may have been removed, or the password changed, during the hashing.
    if ((await users.passwordOf(user.id)) !== hash) throw wrongCredentials();
    if ((await users.get(user.id))?.twoFactorEnabled !== true) {
      return { status: 'signed_in', cookies: [await admit(parts, user, visit, 'password')] };
    }
    await endSessionBefore(parts, visit);
    const cookies = [sessions.clearedCookie(), await challenges.start(user.id)];
    return { status: 'second_factor_required', cookies };
  });
}

/** Takes the same time without a hash, so that timing does not reveal whether the user exists. */
async function matches(
  { passwords }: RealmParts,
  password: string,
  hash: string | undefined,
  waiter: Waiter,
): Promise<boolean> {
  if (hash !== undefined) return passwords.verify(password, hash, waiter);
  await passwords.hash(password, waiter);
  return false;
}

async function secondFactor(parts: RealmParts, code: string, visit: Visit): Promise<SignInOutcome> {
  const { realm, database, throttle, challenges, secondFactors, audit } = parts;
  const { address } = visit;
  const challenge = await challenges.read(visit.headers);
  if (challenge === undefined) throw signInAgain();
  const { user, digest } = challenge;
  const entry = await throttle.enter({ realm, kind: 'code', name: user.id, address });
  if (!(await challenges.countAttempt(digest))) throw signInAgain();
  const work = database.transaction(async () => {
    const used = await secondFactors.use(user.id, code);
    if (used === undefined) {
      await audit(user, 'user.second_factor_failed', actorOfUser(user, address));
      return undefined;
    }
    // Another request may have used it, or a new password may have ended it.
    if (!(await challenges.take(digest))) throw signInAgain();
    const how = used === 'code' ? 'password and code' : used;
    return [await admit(parts, user, visit, how), challenges.clearedCookie()];
  });
  const cookies = await work.catch(async (error: unknown) => {
    if (!(error instanceof IdentityError)) await entry.dropped();
    throw error;
  });
  if (cookies === undefined) throw wrongCode();
  await entry.succeeded();
  return { status: 'signed_in', cookies };
}

async function signOut(parts: RealmParts, { headers, address }: Visit): Promise<readonly string[]> {
  const { database, sessions, audit } = parts;
  const row = await sessions.read(headers);
  if (row !== undefined) {
    await database.transaction(async () => {
      await sessions.end(row.userId, row.id);
      const user = { id: row.userId, accountId: row.accountId, email: row.email };
      await audit(user, 'user.signed_out', actorOfUser(user, address));
    });
  }
  return [sessions.clearedCookie()];
}

/** Starts a session and returns its cookie. Call inside a transaction. */
export async function admit(
  parts: RealmParts,
  user: Pick<User, 'id' | 'accountId' | 'email'>,
  visit: Visit,
  how: string,
): Promise<string> {
  await endSessionBefore(parts, visit);
  await parts.audit(user, 'user.signed_in', actorOfUser(user, visit.address), { with: how });
  return parts.sessions.start(user.id, visit);
}

/** A browser has one session: a correct password ends the previous one. */
async function endSessionBefore({ sessions }: RealmParts, { headers }: Visit): Promise<void> {
  const before = await sessions.read(headers);
  if (before !== undefined) await sessions.end(before.userId, before.id);
}

function wrongCredentials(): IdentityError {
  return new IdentityError(
    'invalid_credentials',
    'The e-mail address or the password is not right. If you have just signed up, open the link in the mail first.',
  );
}

export function wrongCode(): IdentityError {
  return new IdentityError(
    'invalid_code',
    'The code is not right, or it was used already. Wait for the next one and try again.',
  );
}

function signInAgain(): IdentityError {
  return new IdentityError(
    'sign_in_again',
    'This sign-in took too long or had too many wrong codes. Enter your password again.',
  );
}
