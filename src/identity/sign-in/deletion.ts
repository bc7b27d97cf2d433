// The deletion of an account by its owner: requested now, carried out after two weeks, cancellable
// until then. Only what the books need remains: the account's id without personal data.

import { and, eq, isNotNull, lte } from 'drizzle-orm';
import { accountDeletions } from '../../store/sign-in-tables.ts';
import { accounts as accountTable, apiKeys } from '../../store/tables.ts';
import { IdentityError } from '../error.ts';
import type { Keys } from '../keys.ts';
import { actorOf } from '../signed-in.ts';
import type { Deletion } from './contract.ts';
import { mailNotice, type Parts, subjectOf } from './dependencies.ts';
import type { Invites } from './invites.ts';
import { deletedMail, deletionMail } from './mails.ts';

const GRACE_MS = 14 * 24 * 3_600_000;

const SYSTEM = 'system';

export function createDeletion(
  parts: Parts & { readonly keys: Pick<Keys, 'within'>; readonly invites: Invites },
): Deletion & { readonly sweep: () => Promise<void> } {
  const { database, clock, accounts, users, tokens, keys, audit } = parts;
  const { db } = database;

  const find = (accountId: string) =>
    db.select().from(accountDeletions).where(eq(accountDeletions.accountId, accountId)).get();

  async function forget(accountId: string): Promise<void> {
    await db.delete(accountDeletions).where(eq(accountDeletions.accountId, accountId)).run();
  }

  const isPending = async (accountId: string): Promise<boolean> =>
    (await accounts.get(accountId)).standing === 'pending_deletion';

  /** Leaves an account without an owner. Each step can be repeated after a crash. */
  async function close(accountId: string): Promise<void> {
    const { email } = await accounts.get(accountId);
    const user = await users.ofAccount(accountId);
    await parts.onDeletion(accountId);
    const isClosed = await database.transaction(async () => {
      // Another server may have closed it, or the operator may have reopened it.
      if ((await find(accountId)) === undefined || !(await isPending(accountId))) return false;
      await keys.within.revokeAll(accountId, 'account_closed', SYSTEM);
      await db
        .update(apiKeys)
        .set({ lastUsedAddress: null })
        .where(and(eq(apiKeys.accountId, accountId), isNotNull(apiKeys.lastUsedAddress)))
        .run();
      if (user !== undefined) await users.remove(user.id);
      await tokens.removeFor('customer', email, ['sign-up', 'reset']);
      await parts.invites.forgetEmail(email);
      const formerOwner = `deleted-${accountId}@deleted.invalid`.toLowerCase();
      await db
        .update(accountTable)
        .set({ email: formerOwner, emailVerified: false })
        .where(eq(accountTable.id, accountId))
        .run();
      await forget(accountId);
      await audit({ id: accountId, accountId }, 'account.closed', SYSTEM);
      return true;
    });
    if (isClosed) await parts.mailTo(email, deletedMail());
  }

  return {
    deletionDueAt: async (accountId) => (await find(accountId))?.dueAt,

    async askDeletion(who, visit) {
      const askedAt = clock();
      const dueAt = askedAt + GRACE_MS;
      const actor = actorOf(who, visit.address);
      const askedBefore = await database.transaction(async () => {
        // Since the standing was checked, another request may have asked, or an operator changed it.
        const asked = await find(who.accountId);
        if (asked !== undefined) return asked;
        if ((await accounts.get(who.accountId)).standing !== 'active') throw notActive();
        await db
          .insert(accountDeletions)
          .values({ accountId: who.accountId, askedAt, dueAt })
          .run();
        await accounts.within.changeStanding(who.accountId, 'pending_deletion', actor);
        await audit(subjectOf(who), 'account.deletion_asked', actor, {
          due_at: new Date(dueAt).toISOString(),
        });
        return undefined;
      });
      if (askedBefore !== undefined) return askedBefore.dueAt;
      await parts.onDeletion(who.accountId);
      mailNotice(parts, who, visit, 'deletion', deletionMail(parts.pages.customer(), dueAt));
      return dueAt;
    },

    async takeDeletionBack(who, { address }) {
      const actor = actorOf(who, address);
      await database.transaction(async () => {
        const asked = await find(who.accountId);
        // One that is due may be in progress.
        if (asked === undefined || asked.dueAt <= clock()) throw nothingToTakeBack();
        await forget(who.accountId);
        if (await isPending(who.accountId)) {
          await accounts.within.changeStanding(who.accountId, 'active', actor);
        }
        await audit(subjectOf(who), 'account.deletion_taken_back', actor);
      });
    },

    /** Closes the accounts that are due. */
    async sweep() {
      const due = db.select().from(accountDeletions).where(lte(accountDeletions.dueAt, clock()));
      for (const { accountId } of await due.all()) {
        // The operator may have changed its standing.
        if (await isPending(accountId)) await close(accountId);
        else await forget(accountId);
      }
    },
  };
}

function notActive(): IdentityError {
  return new IdentityError(
    'account_inactive',
    'This account is not active, so you cannot delete it. Contact the operator.',
  );
}

function nothingToTakeBack(): IdentityError {
  return new IdentityError(
    'deletion_not_asked',
    'This account has no deletion to cancel, or it is too late to cancel it. Ask the operator.',
  );
}
