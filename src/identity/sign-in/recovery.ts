// Sets a forgotten password, or an operator's first one, through a mailed or printed link. Reading
// the mail proves the ownership of the address, so customers whose account was created by the
// operator set their first password the same way.

import type { Visit } from '../signed-in.ts';
import type { Recovery, SignInOutcome } from './contract.ts';
import { actorOfUser, type RealmParts, signInEmail } from './dependencies.ts';
import { admit } from './entrance.ts';
import { resetMail } from './mails.ts';
import { requirePassword } from './passwords.ts';
import type { Token } from './tokens.ts';

export function createRecovery(
  parts: RealmParts & {
    /** The account with this address but without a user, if any; customers only. */
    readonly ownerless: (email: string) => Promise<string | undefined>;
    /** The account for the owner of the address. Call inside a transaction. */
    readonly adopt: (email: string, address: string) => Promise<string>;
  },
): Recovery {
  const { realm, database, passwords, throttle, tokens, users, sessions, audit } = parts;

  /**
   * Sets the password of an existing user, or creates the user that the token is for. A new user is
   * signed in: unlike an existing one, it has no second factor to ask for.
   */
  async function settle(
    { email, role }: Token,
    password: string,
    visit: Visit,
  ): Promise<SignInOutcome | undefined> {
    const { address } = visit;
    const user = await users.find(realm, email);
    if (user !== undefined) {
      await users.setPassword(user.id, password);
      const ended = await sessions.endAll(user.id);
      const actor = actorOfUser(user, address);
      await audit(user, 'user.password_reset', actor, { sessions_ended: ended });
      return undefined;
    }
    const accountId = realm === 'customer' ? await parts.adopt(email, address) : null;
    const created = await users.create({ realm, email, accountId, role, password });
    await audit(created, 'user.created', actorOfUser(created, address), { with: 'link' });
    return { status: 'signed_in', cookies: [await admit(parts, created, visit, 'link')] };
  }

  return {
    async forgotPassword(given, { address, headers }) {
      const email = signInEmail(given);
      await throttle.limitNetwork(realm, address);
      parts.later(async () => {
        if (!(await throttle.mayMail(realm, email, address))) return;
        // Stored for unknown addresses as well, so that both take the same time.
        const facts = { realm, purpose: 'reset', email } as const;
        const token = await tokens.create(facts);
        const isKnown =
          (await users.find(realm, email)) !== undefined ||
          (await parts.ownerless(email)) !== undefined;
        if (isKnown) await parts.mailTo(email, resetMail(parts.pages[realm](), token), headers);
      });
    },

    async resetPassword(given, visit) {
      const { address } = visit;
      await throttle.limitNetwork(realm, address);
      const purposes =
        realm === 'operator' ? (['reset', 'operator'] as const) : (['reset'] as const);
      const token = await tokens.find(realm, purposes, given.token);
      const hash = await passwords.hash(requirePassword(given.password));
      const outcome = await database.transaction(async () => {
        // It may have been used during the hashing.
        await tokens.take(token);
        await tokens.removeFor(realm, token.email, ['reset', 'operator', 'sign-up']);
        return settle(token, hash, visit);
      });
      await throttle.know({ realm, name: token.email, address });
      return outcome;
    },
  };
}
