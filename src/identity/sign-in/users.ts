// Users of sign-in: people with a verified e-mail address and a password. The only writer of the
// table.

import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { createId } from '../../core/id.ts';
import type { Role } from '../../core/role.ts';
import { challenges, secondFactors, sessions, users } from '../../store/sign-in-tables.ts';
import type { Basics } from '../audit.ts';
import type { Realm } from '../signed-in.ts';

/** Excludes the hash, because users are listed on pages. */
const { password: _, ...SHOWN } = getTableColumns(users);

export type User = Omit<typeof users.$inferSelect, 'password'>;

export type Users = ReturnType<typeof createUsers>;

export function createUsers({ database, clock, randomBytes }: Basics) {
  const { db } = database;

  const select = (where: SQL | undefined) => db.select(SHOWN).from(users).where(where);

  const change = (id: string, changes: Partial<typeof users.$inferInsert>) =>
    db.update(users).set(changes).where(eq(users.id, id)).run();

  /** Ends sign-ins that wait for a second factor. */
  async function endChallenges(userId: string): Promise<void> {
    await db.delete(challenges).where(eq(challenges.userId, userId)).run();
  }

  async function setTwoFactor(userId: string, twoFactorEnabled: boolean): Promise<void> {
    await change(userId, { twoFactorEnabled });
  }

  return {
    find: async (realm: Realm, email: string): Promise<User | undefined> =>
      select(and(eq(users.realm, realm), eq(users.email, email))).get(),

    get: async (id: string): Promise<User | undefined> => select(eq(users.id, id)).get(),

    ofAccount: async (accountId: string): Promise<User | undefined> =>
      select(eq(users.accountId, accountId)).get(),

    /** Oldest first. */
    list: async (realm: Realm): Promise<readonly User[]> =>
      select(eq(users.realm, realm)).orderBy(sql`rowid`).all(),

    /** Call inside a transaction, once the address is verified. `password` is the hash. */
    async create(
      facts: Pick<User, 'realm' | 'email' | 'accountId'> & {
        readonly role?: Role | null;
        readonly password: string;
      },
    ): Promise<User> {
      const { password, role = null, ...known } = facts;
      const id = createId('user_', randomBytes);
      const user: User = { ...known, role, id, createdAt: clock(), twoFactorEnabled: false };
      await db
        .insert(users)
        .values({ ...user, password })
        .run();
      return user;
    },

    /** The hash; `undefined` where the user has none. */
    passwordOf: async (userId: string): Promise<string | undefined> =>
      (await db.select().from(users).where(eq(users.id, userId)).get())?.password ?? undefined,

    /**
     * Sets the hash; `null`: no sign-in until a password is set. Ends sign-ins with the old
     * password that wait for their second factor, but no sessions.
     */
    async setPassword(userId: string, password: string | null): Promise<void> {
      await change(userId, { password });
      await endChallenges(userId);
    },

    async setRole(userId: string, role: Role): Promise<void> {
      await change(userId, { role });
    },

    async endSessions(userId: string): Promise<void> {
      await db.delete(sessions).where(eq(sessions.userId, userId)).run();
    },

    setTwoFactor,

    async dropSecondFactor(userId: string): Promise<void> {
      await db.delete(secondFactors).where(eq(secondFactors.userId, userId)).run();
      await setTwoFactor(userId, false);
      await endChallenges(userId);
    },

    /** Removes a user with sessions, challenges and the second factor. */
    async remove(userId: string): Promise<void> {
      await db.delete(users).where(eq(users.id, userId)).run();
    },
  };
}
