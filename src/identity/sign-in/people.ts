// Operators, invitations and the users of accounts, as an operator manages them on the command line
// and in the console. Needs no secret, so every command can open it.

import type { Actor, Basics } from '../audit.ts';
import { IdentityError } from '../error.ts';
import { createAudit, signInEmail } from './dependencies.ts';
import { createInvites } from './invites.ts';
import { createOperators } from './operators.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import { createTokens } from './tokens.ts';
import { createUsers, type User } from './users.ts';

export type People = ReturnType<typeof createPeople>;

export function createPeople(dependencies: Basics & { readonly passwords?: Passwords }) {
  const { database, passwords = createPasswords().operator } = dependencies;
  const users = createUsers(dependencies);
  const tokens = createTokens(dependencies);
  const audit = createAudit(dependencies);
  return {
    operators: createOperators({ ...dependencies, users, tokens, passwords, audit }),
    invites: createInvites(dependencies),
    ofAccount: users.ofAccount,

    /**
     * For a customer who has lost both the authenticator app and the recovery codes. Ends all
     * sessions, because the lost device may be in other hands. Throws `two_factor_off`.
     */
    dropSecondFactor: (accountId: string, actor: Actor): Promise<void> =>
      database.transaction(async () => {
        const user = await users.ofAccount(accountId);
        if (user?.twoFactorEnabled !== true) {
          throw new IdentityError(
            'two_factor_off',
            'The owner of this account has no second factor, so there is none to turn off.',
          );
        }
        await users.dropSecondFactor(user.id);
        await users.endSessions(user.id);
        await audit(user, 'user.two_factor_disabled', actor);
      }),

    /** Creates a user with a password for an account. Throws `invalid_password`. */
    async addCustomer(
      { id: accountId, email: given }: { readonly id: string; readonly email: string },
      password: string,
      actor: Actor,
    ): Promise<User> {
      const email = signInEmail(given);
      const hash = await passwords.hash(password);
      return database.transaction(async () => {
        const user = await users.create({ realm: 'customer', email, accountId, password: hash });
        await audit(user, 'user.created', actor, { with: 'command line' });
        return user;
      });
    },
  };
}
