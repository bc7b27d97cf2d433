// Creates accounts with their first key, closes and reopens them. Called by `tollgate account …`
// and the console.

import { eq } from 'drizzle-orm';
import type { Standing } from '../core/admit.ts';
import { forgetIdempotent } from '../idempotency/store.ts';
import type { Account } from '../identity/accounts.ts';
import { type Actor, auditChange } from '../identity/audit.ts';
import { normaliseKeyName } from '../identity/key-checks.ts';
import { forgetThinking } from '../reasoning/reasoning.ts';
import type { Database } from '../store/contract.ts';
import { accountDeletions, users } from '../store/sign-in-tables.ts';
import { accounts } from '../store/tables.ts';
import { parseAmount, requireReason } from './amounts.ts';
import type { OperationDependencies } from './dependencies.ts';
import { moveMoney } from './movements.ts';

/** As the operator enters it. */
type AccountRequest = {
  readonly email: string;
  readonly plan: string;
  readonly emailVerified: boolean;
  /** The initial credit in service tokens. */
  readonly credit?: string | undefined;
  /** The name of the first key. */
  readonly keyName?: string | undefined;
};

/**
 * `key` is the whole key, which cannot be shown again. Throws before any change, or
 * `IdentityError`.
 */
export async function createAccount(
  parts: Pick<OperationDependencies, 'accounts' | 'keys' | 'ledger' | 'clock' | 'randomBytes'>,
  request: AccountRequest,
  actor: Actor,
): Promise<{ readonly account: Account; readonly key: string }> {
  const { email, plan, emailVerified, credit } = request;
  if (credit !== undefined) parseAmount(credit);
  const name = normaliseKeyName(request.keyName);
  const account = await parts.accounts.create({ email, plan, emailVerified }, actor);
  if (credit !== undefined) {
    const reason = 'credited by the operator';
    const movement = { kind: 'credit', account, amount: credit, reason } as const;
    await moveMoney(parts, movement, actor);
  }
  // The key comes last: a caller that receives it knows that everything else succeeded.
  const { key } = await parts.keys.create({ accountId: account.id, name }, actor);
  return { account, key };
}

/**
 * Deleting keeps keys and books but rejects requests, and removes kept thinking. Every standing ends
 * a deletion that the owner has requested: the owner could otherwise cancel it, which activates the
 * account against the operator's decision.
 */
export async function changeStanding(
  parts: Pick<OperationDependencies, 'accounts' | 'database' | 'clock' | 'randomBytes'>,
  accountId: string,
  standing: Standing,
  actor: Actor,
  reason?: string,
): Promise<Account> {
  const { accounts, database } = parts;
  const words = reason === undefined || reason.trim() === '' ? undefined : requireReason(reason);
  const changed = await database.transaction(async (tx) => {
    const ended = await tx
      .delete(accountDeletions)
      .where(eq(accountDeletions.accountId, accountId))
      .returning()
      .all();
    if (ended.length > 0) {
      // The standing may already be the wanted one, and then has no event.
      const change = { ...parts, actor };
      await auditChange(change, 'account.deletion_taken_back', accountId, {}, accountId);
    }
    return accounts.within.changeStanding(accountId, standing, actor, words);
  });
  if (standing === 'pending_deletion') {
    await forgetThinking(database, changed.id);
    await forgetIdempotent(database, changed.id);
  }
  return changed;
}

/**
 * The owner of an account and the deletion that they requested; null where there is none.
 * `undefined` for an unknown account. Unix milliseconds.
 */
export async function readOwner({ db }: Database, accountId: string) {
  return db
    .select({
      owner: { twoFactor: users.twoFactorEnabled, createdAt: users.createdAt },
      deletion: { askedAt: accountDeletions.askedAt, dueAt: accountDeletions.dueAt },
    })
    .from(accounts)
    .leftJoin(users, eq(users.accountId, accounts.id))
    .leftJoin(accountDeletions, eq(accountDeletions.accountId, accounts.id))
    .where(eq(accounts.id, accountId))
    .get();
}
