// Lets signed-in users manage their own sign-in: confirm the password, change it, and end sessions.

import { IdentityError } from '../error.ts';
import { actorOf, type SignedIn, type Visit } from '../signed-in.ts';
import type { Cookies, SelfService } from './contract.ts';
import { mailNotice, type RealmParts, subjectOf } from './dependencies.ts';
import { changedMail } from './mails.ts';
import { requirePassword } from './passwords.ts';

export function createSelfService(parts: RealmParts): SelfService {
  const { database, clock, sessions, audit } = parts;

  async function auditEnded(who: SignedIn, ended: number, { address }: Visit): Promise<void> {
    await audit(subjectOf(who), 'user.sessions_ended', actorOf(who, address), { ended });
  }

  return {
    async stepUp(who, password, visit) {
      await prove(parts, who, password, visit);
      const provenAt = clock();
      return { provenAt, cookies: [await sessions.renew(who.sessionId, { provenAt })] };
    },

    changePassword: (who, given, visit) => changePassword(parts, who, given, visit),

    sessions: ({ userId }) => sessions.list(userId),

    endSession: (who, id, visit) =>
      database.transaction(async () => {
        if (!(await sessions.end(who.userId, id))) {
          throw new IdentityError('session_not_found', 'There is no such session.');
        }
        await auditEnded(who, 1, visit);
      }),

    endOtherSessions: (who, visit) =>
      database.transaction(async () => {
        const ended = await sessions.endAll(who.userId, who.sessionId);
        if (ended > 0) await auditEnded(who, ended, visit);
      }),
  };
}

async function changePassword(
  parts: RealmParts,
  who: SignedIn,
  { current, password }: { readonly current: string; readonly password: string },
  visit: Visit,
): Promise<Cookies> {
  const { realm, database, clock, passwords, tokens, users, sessions, audit } = parts;
  const wanted = requirePassword(password);
  const before = await prove(parts, who, current, visit);
  const hash = await passwords.hash(wanted, 'owner');
  const cookies = await database.transaction(async () => {
    // The owner may have reset it because it was compromised.
    if ((await users.passwordOf(who.userId)) !== before) throw wrongPassword();
    await users.setPassword(who.userId, hash);
    await tokens.removeFor(realm, who.email, ['reset']);
    const ended = await sessions.endAll(who.userId, who.sessionId);
    await audit(subjectOf(who), 'user.password_changed', actorOf(who, visit.address), {
      sessions_ended: ended,
    });
    return [await sessions.renew(who.sessionId, { provenAt: clock() })];
  });
  mailNotice(parts, who, visit, 'password', changedMail('password', realm));
  return cookies;
}

/** Returns the hash that matched. Throws `invalid_credentials` and `too_many_attempts`. */
async function prove(
  { realm, throttle, users, passwords }: RealmParts,
  { userId, email }: SignedIn,
  password: string,
  { address }: Visit,
): Promise<string> {
  const entry = await throttle.enter({ realm, kind: 'password', name: email, address });
  const hash = await users.passwordOf(userId);
  const isRight =
    hash !== undefined && (await entry.checked(passwords.verify(password, hash, 'owner')));
  if (!isRight) throw wrongPassword();
  if ((await users.passwordOf(userId)) !== hash) throw wrongPassword();
  await entry.succeeded();
  return hash;
}

function wrongPassword(): IdentityError {
  return new IdentityError('invalid_credentials', 'The password is not right.');
}
