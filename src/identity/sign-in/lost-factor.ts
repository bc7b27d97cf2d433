// For a customer who has lost both the authenticator app and the recovery codes: the operator, who
// knows them some other way, turns the second factor off. Their sessions end, because nobody knows
// who has the lost device.

import { eq } from 'drizzle-orm';
import { sessions } from '../../store/sign-in-tables.ts';
import type { Actor } from '../audit.ts';
import { IdentityError } from '../error.ts';
import type { Parts } from './parts.ts';

/** Throws `two_factor_off` where the account's owner has none. */
export type DropSecondFactor = (accountId: string, actor: Actor) => Promise<void>;

export function createDropSecondFactor(
  parts: Pick<Parts, 'database' | 'users' | 'audit'>,
): DropSecondFactor {
  const { database, users, audit } = parts;
  return (accountId, actor) =>
    database.transaction(async () => {
      const user = await users.ofAccount(accountId);
      if (user?.twoFactorEnabled !== true) {
        throw new IdentityError(
          'two_factor_off',
          'The owner of this account has no second factor, so there is none to turn off.',
        );
      }
      await users.dropSecondFactor(user.id);
      await database.db.delete(sessions).where(eq(sessions.userId, user.id)).run();
      await audit(user, 'user.two_factor_disabled', actor);
    });
}
