// Who may sign in to the operator's console. The first one is made on the command line, by whoever
// has the machine; there is no default password, and no page that makes operators.

import { eq } from 'drizzle-orm';
import { sessions } from '../../store/sign-in-tables.ts';
import type { Actor } from '../audit.ts';
import { IdentityError } from '../error.ts';
import { type Parts, signInEmail } from './parts.ts';
import { requirePassword } from './passwords.ts';
import type { User } from './users.ts';

export type Operators = ReturnType<typeof createOperators>;

export function createOperators(
  parts: Pick<Parts, 'database' | 'users' | 'tokens' | 'passwords' | 'audit'>,
) {
  const { database, users, tokens, passwords, audit } = parts;
  const { db } = database;

  function find(email: string): User {
    const user = users.find('operator', signInEmail(email));
    if (user !== undefined) return user;
    throw new IdentityError('operator_not_found', 'There is no operator with this e-mail address.');
  }

  function requireNew(email: string): void {
    if (users.find('operator', email) === undefined) return;
    throw new IdentityError(
      'operator_exists',
      'There is an operator with this e-mail address already. A lost password is reset.',
    );
  }

  function token(email: string): string {
    tokens.removeFor('operator', email, ['operator', 'reset']);
    const facts = { realm: 'operator', purpose: 'operator', email } as const;
    return tokens.create({ ...facts, password: null, invite: null });
  }

  return {
    /** Whether there is one, or one who has not chosen a password yet. */
    exist: (): boolean =>
      users.list('operator').length > 0 || tokens.isWaiting('operator', 'operator'),

    list: (): readonly User[] => users.list('operator'),

    /** Answers the token with which the operator chooses a password. Throws `operator_exists`. */
    invite(given: string, actor: Actor): { readonly email: string; readonly token: string } {
      const email = signInEmail(given);
      requireNew(email);
      const text = token(email);
      audit({ id: email, accountId: null }, 'operator.invited', actor);
      return { email, token: text };
    },

    /** Makes one with a password at once. Throws `operator_exists`, `invalid_password`. */
    async create(given: string, password: string, actor: Actor): Promise<User> {
      const email = signInEmail(given);
      requireNew(email);
      const hash = await passwords.hash(requirePassword(password));
      return database.transaction(() => {
        requireNew(email);
        tokens.removeFor('operator', email, ['operator', 'reset']);
        const user = users.create({ realm: 'operator', email, accountId: null, password: hash });
        audit(user, 'user.created', actor, { email });
        return user;
      });
    },

    /**
     * For whoever has lost the password or the second factor: both are gone, as all sessions are,
     * and the token chooses a new password. Throws `operator_not_found`.
     */
    reset(given: string, actor: Actor): { readonly email: string; readonly token: string } {
      const user = find(given);
      database.transaction(() => {
        users.setPassword(user.id, null);
        users.dropSecondFactor(user.id);
        db.delete(sessions).where(eq(sessions.userId, user.id)).run();
        audit(user, 'operator.reset', actor, { email: user.email });
      });
      return { email: user.email, token: token(user.email) };
    },

    /** Their sessions end at once. Answers the address. Throws `operator_not_found`. */
    remove(given: string, actor: Actor): string {
      const email = signInEmail(given);
      const isInvited = tokens.isWaiting('operator', 'operator', email);
      const user = isInvited ? users.find('operator', email) : find(email);
      database.transaction(() => {
        tokens.removeFor('operator', email, ['operator', 'reset']);
        if (user !== undefined) users.remove(user.id);
        audit({ id: user?.id ?? email, accountId: null }, 'operator.removed', actor, { email });
      });
      return email;
    },
  };
}
