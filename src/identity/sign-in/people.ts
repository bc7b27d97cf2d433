// The people of sign-in as the command line looks after them: operators, invitations, and the user
// of the demonstration account. Needs no secret, so every command can open it.

import type { RandomBytes } from '../../core/id.ts';
import type { Database } from '../../store/contract.ts';
import type { Actor } from '../audit.ts';
import { createInvites, type Invites } from './invites.ts';
import { createDropSecondFactor, type DropSecondFactor } from './lost-factor.ts';
import { createOperators, type Operators } from './operators.ts';
import { createAudit, signInEmail } from './parts.ts';
import { createPasswords } from './passwords.ts';
import { createTokens } from './tokens.ts';
import { createUsers, type User } from './users.ts';

export type People = {
  readonly operators: Operators;
  readonly invites: Invites;
  readonly dropSecondFactor: DropSecondFactor;
  readonly ofAccount: (accountId: string) => Promise<User | undefined>;
  /** Gives an account a user with a password. Throws `invalid_password`. */
  readonly addCustomer: (
    account: { readonly id: string; readonly email: string },
    password: string,
    actor: Actor,
  ) => Promise<User>;
};

export function createPeople(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
}): People {
  const { database } = dependencies;
  const users = createUsers(dependencies);
  const tokens = createTokens(dependencies);
  const passwords = createPasswords();
  const audit = createAudit(dependencies);
  return {
    operators: createOperators({ database, users, tokens, passwords, audit }),
    invites: createInvites(dependencies),
    dropSecondFactor: createDropSecondFactor({ database, users, audit }),
    ofAccount: users.ofAccount,
    async addCustomer({ id: accountId, email: given }, password, actor) {
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
