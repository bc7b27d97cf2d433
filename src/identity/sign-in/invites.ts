// Invitations to sign up, where sign-up is not open. The text of one is shown only at its creation.
// Called by the command line, the console and sign-up.

import { desc, eq, lt, or, sql } from 'drizzle-orm';
import { createId } from '../../core/id.ts';
import { invites } from '../../store/sign-in-tables.ts';
import { sweepTable } from '../../store/sweep.ts';
import { type Actor, auditChange, type Basics } from '../audit.ts';
import { IdentityError } from '../error.ts';
import { signInEmail } from './dependencies.ts';
import { createSecret, digestOf, isWellFormedSecret } from './digest.ts';

export type Invite = typeof invites.$inferSelect;

export type InviteStatus = 'open' | 'used' | 'revoked' | 'expired';

export type Invites = ReturnType<typeof createInvites>;

const LIFETIME_MS = 14 * 24 * 3_600_000;

/** How long one is listed after its end; the audit trail keeps its events. */
const LISTED_MS = 90 * 24 * 3_600_000;

export function inviteStatus(invite: Invite, nowMs: number): InviteStatus {
  if (invite.usedAt !== null) return 'used';
  if (invite.revokedAt !== null) return 'revoked';
  return nowMs >= invite.expiresAt ? 'expired' : 'open';
}

export function createInvites(dependencies: Basics) {
  const { database, clock, randomBytes } = dependencies;
  const { db } = database;

  async function audit(
    action: 'invite.created' | 'invite.revoked',
    invite: Invite,
    actor: Actor,
  ): Promise<void> {
    // Without the recipient: the event is permanent, and an address may have to be deleted.
    const detail = { expires_at: new Date(invite.expiresAt).toISOString() };
    await auditChange({ ...dependencies, actor }, action, invite.id, detail);
  }

  return {
    /**
     * Only for the address `email` where it is given; expires after two weeks by default. Throws
     * `invalid_expiry`.
     */
    async create(
      facts: { readonly email?: string | undefined; readonly expiresAt?: number | undefined },
      actor: Actor,
    ): Promise<{ readonly invite: Invite; readonly token: string }> {
      const now = clock();
      const { expiresAt = now + LIFETIME_MS } = facts;
      if (expiresAt <= now) {
        throw new IdentityError(
          'invalid_expiry',
          'The end of an invitation has to be in the future.',
        );
      }
      const token = createSecret(randomBytes);
      const invite: Invite = {
        id: createId('inv_', randomBytes),
        digest: digestOf(token),
        email: facts.email === undefined ? null : signInEmail(facts.email),
        createdAt: now,
        expiresAt,
        revokedAt: null,
        usedAt: null,
        usedBy: null,
      };
      return database.transaction(async () => {
        await db.insert(invites).values(invite).run();
        await audit('invite.created', invite, actor);
        return { invite, token };
      });
    },

    /** Newest first; only those before invitation `before` where it is given. */
    page(limit: number, before: number | undefined) {
      const number = sql<number>`${invites}.rowid`.mapWith(Number);
      return db
        .select({ invite: invites, number })
        .from(invites)
        .where(before === undefined ? undefined : lt(number, before))
        .orderBy(desc(number))
        .limit(limit)
        .all();
    },

    /** Removes those that ended long ago, with the addresses in them. */
    sweep(): Promise<void> {
      const endedBefore = clock() - LISTED_MS;
      const { usedAt, revokedAt, expiresAt } = invites;
      const ends = [usedAt, revokedAt, expiresAt].map((end) => lt(end, endedBefore));
      return sweepTable(database, invites, or(...ends));
    },

    /** Newest first. */
    list: async (): Promise<readonly Invite[]> =>
      db.select().from(invites).orderBy(desc(invites.createdAt)).all(),

    /** A used or revoked one stays as it is. Throws `invite_not_found`. */
    async revoke(id: string, actor: Actor): Promise<Invite> {
      return database.transaction(async () => {
        const invite = await db.select().from(invites).where(eq(invites.id, id)).get();
        if (invite === undefined) {
          throw new IdentityError('invite_not_found', 'There is no invitation with this id.');
        }
        if (invite.usedAt !== null || invite.revokedAt !== null) return invite;
        const revokedAt = clock();
        await db.update(invites).set({ revokedAt }).where(eq(invites.id, id)).run();
        const revoked = { ...invite, revokedAt };
        await audit('invite.revoked', revoked, actor);
        return revoked;
      });
    },

    /** The invitation that lets this address sign up. Throws `invalid_invite`. */
    async find(token: string, email: string): Promise<Invite> {
      const invite = isWellFormedSecret(token)
        ? await db
            .select()
            .from(invites)
            .where(eq(invites.digest, digestOf(token)))
            .get()
        : undefined;
      const fits = invite?.email === null || invite?.email === email;
      if (invite !== undefined && fits && inviteStatus(invite, clock()) === 'open') return invite;
      throw invalid();
    },

    /**
     * Marks it as used. Call inside the transaction that creates the user. Throws `invalid_invite`.
     */
    async use(id: string, userId: string): Promise<void> {
      const invite = await db.select().from(invites).where(eq(invites.id, id)).get();
      if (invite === undefined || inviteStatus(invite, clock()) !== 'open') throw invalid();
      await db
        .update(invites)
        .set({ usedAt: clock(), usedBy: userId })
        .where(eq(invites.id, id))
        .run();
    },

    /** Removes the address of a deleted account. Call inside a transaction. */
    async forgetEmail(email: string): Promise<void> {
      await db
        .update(invites)
        .set({ email: null, revokedAt: clock() })
        .where(eq(invites.email, email))
        .run();
    },
  };
}

function invalid(): IdentityError {
  return new IdentityError(
    'invalid_invite',
    'This invitation is not valid, or no longer, or it is for another e-mail address. Ask the operator for a new one.',
  );
}
