// The users of the operator's console. The first one is created on the command line; there is no
// default password, and no page that creates operators.

import type { Actor } from '../audit.ts';
import { IdentityError } from '../error.ts';
import { type Parts, signInEmail } from './dependencies.ts';
import { requirePassword } from './passwords.ts';
import type { User } from './users.ts';

export function createOperators(
  parts: Pick<Parts, 'database' | 'users' | 'tokens' | 'passwords' | 'audit'>,
) {
  const { database, users, tokens, passwords, audit } = parts;

  async function find(email: string): Promise<User> {
    const user = await users.find('operator', signInEmail(email));
    if (user !== undefined) return user;
    throw new IdentityError('operator_not_found', 'There is no operator with this e-mail address.');
  }

  async function requireNew(email: string): Promise<void> {
    if ((await users.find('operator', email)) === undefined) return;
    throw new IdentityError(
      'operator_exists',
      'There is an operator with this e-mail address already. A lost password is reset.',
    );
  }

  async function token(email: string): Promise<string> {
    await tokens.removeFor('operator', email, ['operator', 'reset']);
    const facts = { realm: 'operator', purpose: 'operator', email } as const;
    return tokens.create({ ...facts, password: null, invite: null });
  }

  return {
    /** Whether any operator exists, with or without a password. */
    exist: async (): Promise<boolean> =>
      (await users.list('operator')).length > 0 || (await tokens.isWaiting('operator', 'operator')),

    list: async (): Promise<readonly User[]> => users.list('operator'),

    /** Returns the token with which the operator sets a password. Throws `operator_exists`. */
    async invite(
      given: string,
      actor: Actor,
    ): Promise<{ readonly email: string; readonly token: string }> {
      const email = signInEmail(given);
      await requireNew(email);
      const text = await token(email);
      await audit({ id: email, accountId: null }, 'operator.invited', actor);
      return { email, token: text };
    },

    /** Creates one with a password at once. Throws `operator_exists`, `invalid_password`. */
    async create(given: string, password: string, actor: Actor): Promise<User> {
      const email = signInEmail(given);
      await requireNew(email);
      const hash = await passwords.hash(requirePassword(password));
      return database.transaction(async () => {
        await requireNew(email);
        await tokens.removeFor('operator', email, ['operator', 'reset']);
        const user = await users.create({
          realm: 'operator',
          email,
          accountId: null,
          password: hash,
        });
        await audit(user, 'user.created', actor, { email });
        return user;
      });
    },

    /**
     * For a lost password or second factor: removes both, ends all sessions, and returns a token
     * for a new password. Throws `operator_not_found`.
     */
    async reset(
      given: string,
      actor: Actor,
    ): Promise<{ readonly email: string; readonly token: string }> {
      const user = await find(given);
      await database.transaction(async () => {
        await users.setPassword(user.id, null);
        await users.dropSecondFactor(user.id);
        await users.endSessions(user.id);
        await audit(user, 'operator.reset', actor, { email: user.email });
      });
      return { email: user.email, token: await token(user.email) };
    },

    /** Ends all sessions at once. Returns the address. Throws `operator_not_found`. */
    async remove(given: string, actor: Actor): Promise<string> {
      const email = signInEmail(given);
      await database.transaction(async () => {
        // An invited operator may set a password at this moment.
        const isInvited = await tokens.isWaiting('operator', 'operator', email);
        const user = isInvited ? await users.find('operator', email) : await find(email);
        await tokens.removeFor('operator', email, ['operator', 'reset']);
        if (user !== undefined) await users.remove(user.id);
        await audit({ id: user?.id ?? email, accountId: null }, 'operator.removed', actor, {
          email,
        });
      });
      return email;
    },
  };
}
