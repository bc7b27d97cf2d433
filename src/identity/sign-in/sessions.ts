// Sessions. A session is a row with a keyed digest of the 256 random bits in its cookie. It ends
// after 12 hours without a request, and always after 7 days. Every request of the dashboard reads
// it, with one prepared statement.

import { and, desc, eq, getTableColumns, inArray, ne, not, type SQL, sql } from 'drizzle-orm';
import { createId } from '../../core/id.ts';
import { sessions, users } from '../../store/sign-in-tables.ts';
import { sweepTable } from '../../store/sweep.ts';
import type { Basics } from '../audit.ts';
import type { Realm, SessionLook, Visit } from '../signed-in.ts';
import { clearCookie, readCookie, SESSION_COOKIES, setCookie } from './cookies.ts';
import { createSecret, isWellFormedSecret, keyedDigest } from './digest.ts';

const { digest: _, ...LISTED } = getTableColumns(sessions);

export type ListedSession = Omit<typeof sessions.$inferSelect, 'digest'>;

export type Sessions = ReturnType<typeof createSessions>;

export type SessionOfUser = NonNullable<Awaited<ReturnType<Sessions['read']>>>;

const HOUR_MS = 3_600_000;
const IDLE_MS = 12 * HOUR_MS;
const ABSOLUTE_MS = 7 * 24 * HOUR_MS;
const SEEN_EVERY_MS = 60_000;

/** The newest ones of a user: far more than browsers in use. */
const KEPT_MAX = 100;
/** A user of an earlier version may have many more: a sign-in ends at most this many. */
const ENDED_MAX = 1_000;
const LISTED_MAX = 200;

const USER_AGENT_LENGTH_MAX = 300;

export function createSessions(
  dependencies: Basics & {
    /** Keys the digests: a new secret ends all sessions. */
    readonly secret: string;
    readonly realm: Realm;
  },
) {
  const { database, clock, randomBytes, secret, realm } = dependencies;
  const { db } = database;
  const name = SESSION_COOKIES[realm];
  const digestOf = (text: string): string => keyedDigest(secret, `session ${text}`);

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
      role: users.role,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(and(eq(sessions.digest, sql.placeholder('digest')), eq(users.realm, realm)))
    .prepare();

  const isOver = (now: number): SQL =>
    sql`(${sessions.expiresAt} <= ${now} or ${sessions.lastSeenAt} <= ${now - IDLE_MS})`;

  /** Returns the number of removed sessions. */
  async function remove(userId: string, which: SQL): Promise<number> {
    const theirs = and(eq(sessions.userId, userId), which);
    const { id } = sessions;
    return (await db.delete(sessions).where(theirs).returning({ id }).all()).length;
  }

  /** Leaves room for a new session. */
  async function endOldest(userId: string): Promise<void> {
    const oldest = db
      .select({ id: sessions.id })
      .from(sessions)
      .where(eq(sessions.userId, userId))
      .orderBy(desc(sessions.createdAt), desc(sessions.id))
      .limit(ENDED_MAX)
      .offset(KEPT_MAX - 1);
    await db.delete(sessions).where(inArray(sessions.id, oldest)).run();
  }

  return {
    /** The active session of a request's cookie. Records once a minute that it was used. */
    async read(headers: Headers, { quiet = false }: SessionLook = {}) {
      const text = readCookie(headers, name) ?? '';
      if (!isWellFormedSecret(text)) return undefined;
      const row = await reading.get({ digest: digestOf(text) });
      if (row === undefined) return undefined;
      const now = clock();
      if (now >= row.expiresAt || now - row.lastSeenAt >= IDLE_MS) return undefined;
      if (!quiet && now - row.lastSeenAt >= SEEN_EVERY_MS) {
        await db.update(sessions).set({ lastSeenAt: now }).where(eq(sessions.id, row.id)).run();
      }
      return row;
    },

    /**
     * A session for a user who has just entered the password; returns its cookie. Ends the oldest of
     * their sessions above the limit. Call inside a transaction.
     */
    async start(userId: string, { headers, address }: Visit): Promise<string> {
      await endOldest(userId);
      const text = createSecret(randomBytes);
      const now = clock();
      await db
        .insert(sessions)
        .values({
          id: createId('sess_', randomBytes),
          userId,
          address,
          digest: digestOf(text),
          userAgent: userAgentOf(headers),
          createdAt: now,
          lastSeenAt: now,
          provenAt: now,
          expiresAt: now + ABSOLUTE_MS,
        })
        .run();
      return setCookie(name, text, ABSOLUTE_MS);
    },

    /** Gives a session a new secret, which invalidates the old cookie; returns the new one. */
    async renew(id: string, changes: { readonly provenAt?: number } = {}): Promise<string> {
      const text = createSecret(randomBytes);
      const now = clock();
      await db
        .update(sessions)
        .set({ ...changes, digest: digestOf(text), lastSeenAt: now })
        .where(eq(sessions.id, id))
        .run();
      return setCookie(name, text, ABSOLUTE_MS);
    },

    /** A user's active sessions, the most recently used first; 200 at most. */
    list: async (userId: string): Promise<readonly ListedSession[]> =>
      db
        .select(LISTED)
        .from(sessions)
        .where(and(eq(sessions.userId, userId), not(isOver(clock()))))
        .orderBy(desc(sessions.lastSeenAt), desc(sessions.createdAt))
        .limit(LISTED_MAX)
        .all(),

    /** Whether the user had a session with this id. */
    end: async (userId: string, id: string): Promise<boolean> =>
      (await remove(userId, eq(sessions.id, id))) > 0,

    /** Ends all of a user's sessions but one; returns their number. */
    endAll: (userId: string, exceptId = ''): Promise<number> =>
      remove(userId, ne(sessions.id, exceptId)),

    /** The `Set-Cookie` line that removes the cookie. */
    clearedCookie: (): string => clearCookie(name),

    /** Removes expired sessions. */
    sweep: (): Promise<void> => sweepTable(database, sessions, isOver(clock())),
  };
}

/** Client-controlled text: truncated, and without control characters. */
function userAgentOf(headers: Headers): string {
  return (headers.get('user-agent') ?? '')
    .replace(/\p{Cc}/gu, '')
    .slice(0, USER_AGENT_LENGTH_MAX)
    .toWellFormed();
}
