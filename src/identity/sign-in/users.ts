// Who may sign in: people with a verified e-mail address and a password. Written here and nowhere
// else; the library reads them through `adapter.ts`.

import { and, eq, lt, sql } from 'drizzle-orm';
import { createId, type RandomBytes } from '../../core/id.ts';
import type { Database } from '../../store/contract.ts';
import {
  challenges,
  credentials,
  secondFactors,
  sessions,
  users,
} from '../../store/sign-in-tables.ts';
import { sweepTable } from '../../store/sweep.ts';
import type { Realm } from '../signed-in.ts';

export type User = typeof users.$inferSelect;

export type Users = ReturnType<typeof createUsers>;

/** How the library calls a password of our own. */
const PROVIDER = 'credential';

export function createUsers(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
}) {
  const { database, clock, randomBytes } = dependencies;
  const { db } = database;

  const byUser = (userId: string) =>
    and(eq(credentials.userId, userId), eq(credentials.provider, PROVIDER));

  /** Sign-ins that wait for their second factor are over. */
  async function forgetChallenges(userId: string): Promise<void> {
    await db.delete(challenges).where(eq(challenges.value, userId)).run();
  }

  return {
    forgetChallenges,

    find: async (realm: Realm, email: string): Promise<User | undefined> =>
      db
        .select()
        .from(users)
        .where(and(eq(users.realm, realm), eq(users.email, email)))
        .get(),

    get: async (id: string): Promise<User | undefined> =>
      db.select().from(users).where(eq(users.id, id)).get(),

    ofAccount: async (accountId: string): Promise<User | undefined> =>
      db.select().from(users).where(eq(users.accountId, accountId)).get(),

    /** Oldest first. */
    list: async (realm: Realm): Promise<readonly User[]> =>
      db.select().from(users).where(eq(users.realm, realm)).orderBy(sql`rowid`).all(),

    /** Call inside a transaction, once the address is verified. `password` is hashed. */
    async create(
      facts: Pick<User, 'realm' | 'email' | 'accountId'> & { readonly password: string },
    ): Promise<User> {
      const now = clock();
      const { password, ...known } = facts;
      const times = { createdAt: now, updatedAt: now };
      const id = createId('user_', randomBytes);
      const user: User = { ...known, ...times, id, emailVerified: true, twoFactorEnabled: false };
      await db.insert(users).values(user).run();
      await db
        .insert(credentials)
        .values({
          ...times,
          id: createId('cred_', randomBytes),
          realm: user.realm,
          userId: id,
          subject: id,
          provider: PROVIDER,
          password,
        })
        .run();
      return user;
    },

    /** The hash; `undefined` where the user has none (any more). */
    passwordOf: async (userId: string): Promise<string | undefined> =>
      (await db.select().from(credentials).where(byUser(userId)).get())?.password ?? undefined,

    /**
     * Sets the hash; `null`: nothing opens until there is one. Sign-ins with the old one that wait
     * for their second factor are over; sessions are not.
     */
    async setPassword(userId: string, password: string | null): Promise<void> {
      await db
        .update(credentials)
        .set({ password, updatedAt: clock() })
        .where(byUser(userId))
        .run();
      await forgetChallenges(userId);
    },

    async dropSecondFactor(userId: string): Promise<void> {
      await db.delete(secondFactors).where(eq(secondFactors.userId, userId)).run();
      await db.update(users).set({ twoFactorEnabled: false }).where(eq(users.id, userId)).run();
    },

    /** Forgets sign-ins that have waited too long for their second factor. */
    async sweep(): Promise<void> {
      await sweepTable(database, challenges, lt(challenges.expiresAt, clock()));
    },

    /** Everything of the user goes: sessions, password, second factor. */
    async remove(userId: string): Promise<void> {
      await forgetChallenges(userId);
      await db.delete(sessions).where(eq(sessions.userId, userId)).run();
      await db.delete(users).where(eq(users.id, userId)).run();
    },
  };
}
