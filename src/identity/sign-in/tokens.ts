// Mailed and printed tokens: 256 bits, usable once, stored as a digest with the recipient's
// address, valid for half an hour.

import { and, asc, eq, gt, inArray, lt } from 'drizzle-orm';
import { signInTokens, type TokenPurpose } from '../../store/sign-in-tables.ts';
import { sweepTable } from '../../store/sweep.ts';
import type { Basics } from '../audit.ts';
import { IdentityError } from '../error.ts';
import type { Realm } from '../signed-in.ts';
import { createSecret, digestOf, isWellFormedSecret } from './digest.ts';

export type Token = typeof signInTokens.$inferSelect;

export type SignInTokens = ReturnType<typeof createTokens>;

const LIFETIME_MS = 30 * 60_000;

/** An address may have this many pending sign-ups; the oldest is then removed. */
const LIVE_MAX = 10;

export function createTokens({ database, clock, randomBytes }: Basics) {
  const { db } = database;

  async function find(
    realm: Realm,
    purposes: readonly TokenPurpose[],
    text: string,
  ): Promise<Token> {
    const row = isWellFormedSecret(text)
      ? await db
          .select()
          .from(signInTokens)
          .where(
            and(
              eq(signInTokens.digest, digestOf(text)),
              eq(signInTokens.realm, realm),
              inArray(signInTokens.purpose, [...purposes]),
              gt(signInTokens.expiresAt, clock()),
            ),
          )
          .get()
      : undefined;
    if (row !== undefined) return row;
    throw new IdentityError(
      'invalid_token',
      'This link is not valid: it was used, it is older than 30 minutes, or it is incomplete. Ask for another one.',
    );
  }

  const sentTo = (realm: Realm, email: string, purposes: readonly TokenPurpose[]) =>
    and(
      eq(signInTokens.realm, realm),
      eq(signInTokens.email, email),
      inArray(signInTokens.purpose, [...purposes]),
    );

  return {
    /** Returns the text, which is readable only now. */
    async create(
      facts: Pick<Token, 'realm' | 'purpose' | 'email'> &
        Partial<Pick<Token, 'password' | 'invite' | 'role'>>,
    ): Promise<string> {
      const text = createSecret(randomBytes);
      await database.quickly(async () => {
        const now = clock();
        const { realm, purpose, email } = facts;
        const live = await db
          .select({ digest: signInTokens.digest })
          .from(signInTokens)
          .where(sentTo(realm, email, [purpose]))
          .orderBy(asc(signInTokens.createdAt))
          .all();
        const oldest = live.slice(0, Math.max(0, live.length - LIVE_MAX + 1));
        if (oldest.length > 0) {
          const digests = oldest.map(({ digest }) => digest);
          await db.delete(signInTokens).where(inArray(signInTokens.digest, digests)).run();
        }
        const times = { createdAt: now, expiresAt: now + LIFETIME_MS };
        await db
          .insert(signInTokens)
          .values({ ...facts, ...times, digest: digestOf(text) })
          .run();
      });
      return text;
    },

    /** Throws `invalid_token`. Does not use it up. */
    find,

    /** Uses it up; throws `invalid_token` where it was already used. Call inside a transaction. */
    async take({ digest }: Token): Promise<void> {
      const taken = await db
        .delete(signInTokens)
        .where(eq(signInTokens.digest, digest))
        .returning()
        .all();
      if (taken.length === 1) return;
      throw new IdentityError('invalid_token', 'This link was used already.');
    },

    /** Invalidates all tokens of an address. */
    async removeFor(realm: Realm, email: string, purposes: readonly TokenPurpose[]): Promise<void> {
      await db
        .delete(signInTokens)
        .where(sentTo(realm, email, purposes))
        .run();
    },

    /** Whether this address, or any, has a token. */
    async isWaiting(realm: Realm, purpose: TokenPurpose, email?: string): Promise<boolean> {
      const theirs = and(
        eq(signInTokens.realm, realm),
        eq(signInTokens.purpose, purpose),
        gt(signInTokens.expiresAt, clock()),
        email === undefined ? undefined : eq(signInTokens.email, email),
      );
      return (await db.select().from(signInTokens).where(theirs).limit(1).get()) !== undefined;
    },

    /** Removes expired rows. */
    sweep: (): Promise<void> =>
      sweepTable(database, signInTokens, lt(signInTokens.expiresAt, clock())),
  };
}
