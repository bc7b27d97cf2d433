// Who is signed in. A session is a row, and its cookie holds 256 random bits that the row knows the
// SHA-256 of. It ends after 12 hours without a request and after 7 days whatever happens. Read by
// each request of the dashboard, so with one prepared statement.

import { createHmac } from 'node:crypto';
import { and, desc, eq, lt, ne, or, sql } from 'drizzle-orm';
import { createId, type RandomBytes } from '../../core/id.ts';
import type { Database } from '../../store/contract.ts';
import { sessions, users } from '../../store/sign-in-tables.ts';
import { sweepTable } from '../../store/sweep.ts';
import type { Realm, SessionLook } from '../signed-in.ts';
import type { Visit } from './contract.ts';
import { createSecret, digestOf, isWellFormedSecret } from './digest.ts';

export type SessionRow = typeof sessions.$inferSelect;

export type Sessions = ReturnType<typeof createSessions>;

const HOUR_MS = 3_600_000;
const IDLE_MS = 12 * HOUR_MS;
export const ABSOLUTE_MS = 7 * 24 * HOUR_MS;
const SEEN_EVERY_MS = 60_000;

const USER_AGENT_LENGTH_MAX = 300;
const COOKIE_LENGTH_MAX = 8_192;

const COOKIES: Readonly<Record<Realm, string>> = {
  customer: '__Host-tollgate',
  operator: '__Host-tollgate-operator',
};

export function sessionCookieName(realm: Realm): string {
  return COOKIES[realm];
}

export function createSessions(dependencies: {
  readonly database: Database;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  /** What the library signs its cookies with. */
  readonly secret: string;
  readonly realm: Realm;
}) {
  const { database, clock, randomBytes, secret, realm } = dependencies;
  const { db } = database;
  const name = COOKIES[realm];

  const reading = db
    .select({
      id: sessions.id,
      userId: sessions.userId,
      createdAt: sessions.createdAt,
      lastSeenAt: sessions.lastSeenAt,
      provenAt: sessions.provenAt,
      expiresAt: sessions.expiresAt,
      email: users.email,
      accountId: users.accountId,
      twoFactor: users.twoFactorEnabled,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.digest, sql.placeholder('digest')), eq(sessions.realm, realm)))
    .prepare();

  const isOver = (now: number) =>
    or(lt(sessions.expiresAt, now + 1), lt(sessions.lastSeenAt, now - IDLE_MS + 1));

  /** As the library signs its cookies, which reads this one too: another secret ends all sessions. */
  const sign = (text: string): string =>
    `${text}.${createHmac('sha256', secret).update(text).digest('base64')}`;

  function cookie(text: string): string {
    return `${name}=${encodeURIComponent(sign(text))}; Max-Age=${ABSOLUTE_MS / 1_000}; Path=/; HttpOnly; Secure; SameSite=Lax`;
  }

  return {
    /** The session of a request's cookie while it lasts. Notes once a minute that it was seen. */
    async read(headers: Headers, { quiet = false }: SessionLook = {}) {
      const value = cookieOf(headers, name);
      const text = value?.split('.')[0] ?? '';
      if (!isWellFormedSecret(text) || value !== sign(text)) return undefined;
      const row = await reading.get({ digest: digestOf(text) });
      if (row === undefined) return undefined;
      const now = clock();
      if (now >= row.expiresAt || now - row.lastSeenAt >= IDLE_MS) return undefined;
      if (!quiet && now - row.lastSeenAt >= SEEN_EVERY_MS) {
        await db.update(sessions).set({ lastSeenAt: now }).where(eq(sessions.id, row.id)).run();
      }
      return row;
    },

    /** A session for somebody whose password was right just now; answers its cookie. */
    async start(userId: string, { headers, address }: Visit): Promise<string> {
      const text = createSecret(randomBytes);
      const now = clock();
      await db
        .insert(sessions)
        .values({
          id: createId('sess_', randomBytes),
          ...{ realm, userId, address, digest: digestOf(text), userAgent: shownUserAgent(headers) },
          ...{ createdAt: now, updatedAt: now, lastSeenAt: now, provenAt: now },
          expiresAt: now + ABSOLUTE_MS,
        })
        .run();
      return cookie(text);
    },

    /** Gives a session a new secret, and with it a new cookie; the old one opens nothing any more. */
    async renew(id: string, changes: { readonly provenAt?: number } = {}): Promise<string> {
      const text = createSecret(randomBytes);
      const now = clock();
      await db
        .update(sessions)
        .set({ ...changes, digest: digestOf(text), updatedAt: now, lastSeenAt: now })
        .where(eq(sessions.id, id))
        .run();
      return cookie(text);
    },

    /** Those of a user that last, the one seen last first. */
    list: async (userId: string): Promise<readonly SessionRow[]> => {
      const now = clock();
      return (
        await db
          .select()
          .from(sessions)
          .where(eq(sessions.userId, userId))
          .orderBy(desc(sessions.lastSeenAt), desc(sessions.createdAt))
          .all()
      ).filter((row) => now < row.expiresAt && now - row.lastSeenAt < IDLE_MS);
    },

    /** Whether there was one of this user's with this id. */
    end: async (userId: string, id: string): Promise<boolean> =>
      (
        await db
          .delete(sessions)
          .where(and(eq(sessions.userId, userId), eq(sessions.id, id)))
          .returning({ id: sessions.id })
          .all()
      ).length > 0,

    /** Ends all of a user's but one; answers how many. */
    endAll: async (userId: string, exceptId?: string): Promise<number> =>
      (
        await db
          .delete(sessions)
          .where(
            and(
              eq(sessions.userId, userId),
              exceptId === undefined ? undefined : ne(sessions.id, exceptId),
            ),
          )
          .returning({ id: sessions.id })
          .all()
      ).length,

    /** The `Set-Cookie` that makes the browser forget it. */
    farewell: (): string => `${name}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax`,

    /** Removes what is over. */
    async sweep(): Promise<void> {
      await sweepTable(database, sessions, isOver(clock()));
    },
  };
}

/** What the library calls a browser: text from outside, cut and without control characters. */
export function shownUserAgent(headers: Headers): string {
  return (headers.get('user-agent') ?? '')
    .replace(/\p{Cc}/gu, '')
    .slice(0, USER_AGENT_LENGTH_MAX)
    .toWellFormed();
}

/** A cookie's value, decoded. */
export function cookieOf(headers: Headers, name: string): string | undefined {
  const header = headers.get('cookie') ?? '';
  if (header.length > COOKIE_LENGTH_MAX) return undefined;
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at === -1 || pair.slice(0, at).trim() !== name) continue;
    try {
      return decodeURIComponent(pair.slice(at + 1).trim());
    } catch {
      return undefined;
    }
  }
  return undefined;
}
