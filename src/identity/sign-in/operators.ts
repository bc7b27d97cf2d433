// The users of the operator's console and their roles. The first one is created on the command line
// and is an admin; there is no default password. At least one admin always remains.

import type { Role } from '../../core/role.ts';
import type { Actor } from '../audit.ts';
import { IdentityError } from '../error.ts';
import { createOperatorTokens } from '../operator-tokens.ts';
import { type RealmParts, signInEmail } from './dependencies.ts';
import { requirePassword } from './passwords.ts';
import type { User } from './users.ts';

export function createOperators(
  parts: Pick<
    RealmParts,
    'database' | 'users' | 'tokens' | 'passwords' | 'audit' | 'clock' | 'randomBytes'
  >,
) {
  const { database, users, tokens, passwords, audit } = parts;
  const apiTokens = createOperatorTokens(parts);

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

  async function token(email: string, role: Role | null): Promise<string> {
    await tokens.removeFor('operator', email, ['operator', 'reset']);
    return tokens.create({ realm: 'operator', purpose: 'operator', email, role });
  }

  async function admins(): Promise<readonly User[]> {
    return (await users.list('operator')).filter(({ role }) => role === 'admin');
  }

  /** Otherwise no operator could give roles. */
  async function requireFirstAdmin(role: Role): Promise<void> {
    if (role === 'admin' || (await admins()).length > 0) return;
    throw new IdentityError(
      'invalid_role',
      'The first operator has to be an admin. Create an admin, then operators with other roles.',
    );
  }

  /** Call inside the transaction that takes the role away. */
  async function requireOtherAdmin({ id, role }: User): Promise<void> {
    if (role !== 'admin' || (await admins()).some((admin) => admin.id !== id)) return;
    throw new IdentityError(
      'last_admin',
      'This is the last admin, so the role has to stay. Create another admin first.',
    );
  }

  return {
    /** Whether any operator exists, with or without a password. */
    exist: async (): Promise<boolean> =>
      (await users.list('operator')).length > 0 || (await tokens.isWaiting('operator', 'operator')),

    list: async (): Promise<readonly User[]> => users.list('operator'),

    /** Returns the token with which the operator sets a password. Throws `operator_exists`. */
    async invite(
      given: string,
      role: Role,
      actor: Actor,
    ): Promise<{ readonly email: string; readonly token: string }> {
      const email = signInEmail(given);
      await requireNew(email);
      await requireFirstAdmin(role);
      const text = await token(email, role);
      await audit({ id: email, accountId: null }, 'operator.invited', actor, { role });
      return { email, token: text };
    },

    /** Creates one with a password at once. Throws `operator_exists`, `invalid_password`. */
    async create(given: string, role: Role, password: string, actor: Actor): Promise<User> {
      const email = signInEmail(given);
      await requireNew(email);
      const hash = await passwords.hash(requirePassword(password));
      return database.transaction(async () => {
        await requireNew(email);
        await requireFirstAdmin(role);
        await tokens.removeFor('operator', email, ['operator', 'reset']);
        const user = await users.create({
          realm: 'operator',
          email,
          accountId: null,
          role,
          password: hash,
        });
        await audit(user, 'user.created', actor, { email, role });
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
      return { email: user.email, token: await token(user.email, user.role) };
    },

    /**
     * Takes effect with the next request of the operator, open pages included; sessions go on.
     * Throws `operator_not_found` and `last_admin`.
     */
    changeRole: (given: string, role: Role, actor: Actor): Promise<User> =>
      database.transaction(async () => {
        const user = await find(given);
        if (user.role === role) return user;
        await requireOtherAdmin(user);
        await users.setRole(user.id, role);
        const detail = { email: user.email, from: user.role, to: role };
        await audit(user, 'operator.role_changed', actor, detail);
        return { ...user, role };
      }),

    /**
     * Ends all sessions at once and revokes the tokens of the operators' API. Returns the address. Throws `operator_not_found` and `last_admin`.
     */
    async remove(given: string, actor: Actor): Promise<string> {
      const email = signInEmail(given);
      await database.transaction(async () => {
        // An invited operator may set a password at this moment.
        const isInvited = await tokens.isWaiting('operator', 'operator', email);
        const user = isInvited ? await users.find('operator', email) : await find(email);
        await tokens.removeFor('operator', email, ['operator', 'reset']);
        if (user !== undefined) {
          await requireOtherAdmin(user);
          await users.remove(user.id);
          await apiTokens.revokeOf(email, actor);
        }
        await audit({ id: user?.id ?? email, accountId: null }, 'operator.removed', actor, {
          email,
        });
      });
      return email;
    },
  };
}
