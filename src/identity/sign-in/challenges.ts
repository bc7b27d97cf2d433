// Sign-ins with a correct password that wait for their second factor: for ten minutes, and up to
// five codes. A new password ends those of its user (`users.ts`).

import { and, eq, gt, lt, sql } from 'drizzle-orm';
import { challenges, users } from '../../store/sign-in-tables.ts';
import { sweepTable } from '../../store/sweep.ts';
import type { Basics } from '../audit.ts';
import type { Realm } from '../signed-in.ts';
import { challengeCookieName, clearCookie, readCookie, setCookie } from './cookies.ts';
import { createSecret, keyedDigest } from './digest.ts';

const LIFETIME_MS = 10 * 60_000;
const ATTEMPTS_MAX = 5;

export type Challenges = ReturnType<typeof createChallenges>;

export function createChallenges(
  dependencies: Basics & { readonly secret: string; readonly realm: Realm },
) {
  const { database, clock, randomBytes, secret, realm } = dependencies;
  const { db } = database;
  const name = challengeCookieName(realm);
  const digestOf = (text: string): string => keyedDigest(secret, `challenge ${text}`);

  return {
    /** Returns its cookie. */
    async start(userId: string): Promise<string> {
      const text = createSecret(randomBytes);
      await db
        .insert(challenges)
        .values({ digest: digestOf(text), userId, attempts: 0, expiresAt: clock() + LIFETIME_MS })
        .run();
      return setCookie(name, text, LIFETIME_MS);
    },

    /** The challenge of a request's cookie, with its user. */
    async read(headers: Headers) {
      const text = readCookie(headers, name);
      if (text === undefined) return undefined;
      return db
        .select({
          digest: challenges.digest,
          user: { id: users.id, email: users.email, accountId: users.accountId },
        })
        .from(challenges)
        .innerJoin(users, eq(users.id, challenges.userId))
        .where(
          and(
            eq(challenges.digest, digestOf(text)),
            eq(users.realm, realm),
            gt(challenges.expiresAt, clock()),
          ),
        )
        .get();
    },

    /** Counts an attempt before its code is checked; false after too many of them. */
    async countAttempt(digest: string): Promise<boolean> {
      const counted = await db
        .update(challenges)
        .set({ attempts: sql`${challenges.attempts} + 1` })
        .where(and(eq(challenges.digest, digest), lt(challenges.attempts, ATTEMPTS_MAX)))
        .returning({ digest: challenges.digest })
        .all();
      return counted.length > 0;
    },

    /** Ends it; false where it has already ended. */
    async take(digest: string): Promise<boolean> {
      const taken = await db
        .delete(challenges)
        .where(eq(challenges.digest, digest))
        .returning({ digest: challenges.digest })
        .all();
      return taken.length > 0;
    },

    /** The `Set-Cookie` line that removes the cookie. */
    clearedCookie: (): string => clearCookie(name),

    /** Removes expired rows of both realms. */
    sweep: (): Promise<void> => sweepTable(database, challenges, lt(challenges.expiresAt, clock())),
  };
}
