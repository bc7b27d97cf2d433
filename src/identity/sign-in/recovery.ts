// A forgotten password, and an operator's first one: a link by mail (or on the operator's terminal)
// opens a page that sets it. Reading mail to an address proves its ownership, so this also
// gives customers whose account the operator has made their first password.

import type { Recovery } from './contract.ts';
import { actorOfUser, type RealmParts, signInEmail } from './dependencies.ts';
import { resetMail } from './mails.ts';
import { requirePassword } from './passwords.ts';
import type { Token } from './tokens.ts';

export function createRecovery(
  parts: RealmParts & {
    /** The account without a user that this address owns, if any; of customers alone. */
    readonly ownerless: (email: string) => Promise<string | undefined>;
    /** The account that its owner gets. Call inside a transaction. */
    readonly adopt: (email: string, address: string) => Promise<string>;
  },
): Recovery {
  const { realm, database, passwords, throttle, tokens, users, sessions, audit } = parts;

  /** Sets the password of a user who exists, or makes the one that the token is for. */
  async function settle({ email }: Token, password: string, address: string): Promise<void> {
    const user = await users.find(realm, email);
    if (user !== undefined) {
      await users.setPassword(user.id, password);
      const ended = await sessions.endAll(user.id);
      const actor = actorOfUser(user, address);
      await audit(user, 'user.password_reset', actor, { sessions_ended: ended });
      return;
    }
    const accountId = realm === 'customer' ? await parts.adopt(email, address) : null;
    const created = await users.create({ realm, email, accountId, password });
    await audit(created, 'user.created', actorOfUser(created, address), { with: 'link' });
  }

  return {
    async forgotPassword(given, { address }) {
      const email = signInEmail(given);
      await throttle.limitNetwork(address);
      parts.later(async () => {
        if (!(await throttle.mayMail(realm, email, address))) return;
        // Kept for unknown addresses as well: what comes next must not have to wait longer for one.
        const facts = { realm, purpose: 'reset', email } as const;
        const token = await tokens.create({ ...facts, password: null, invite: null });
        const isKnown =
          (await users.find(realm, email)) !== undefined ||
          (await parts.ownerless(email)) !== undefined;
        if (isKnown) parts.mail({ to: email, ...resetMail(parts.pages[realm](), token) });
      });
    },

    async resetPassword(given, { address }) {
      await throttle.limitNetwork(address);
      const purposes =
        realm === 'operator' ? (['reset', 'operator'] as const) : (['reset'] as const);
      const token = await tokens.find(realm, purposes, given.token);
      const hash = await passwords.hash(requirePassword(given.password));
      await database.transaction(async () => {
        // It may have been taken while the password was hashed.
        await tokens.take(token);
        await tokens.removeFor(realm, token.email, ['reset', 'operator', 'sign-up']);
        await settle(token, hash, address);
      });
      await throttle.know({ realm, name: token.email, address });
    },
  };
}
