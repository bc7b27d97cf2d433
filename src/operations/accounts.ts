// Accounts as operators handle them: created with their first key, closed and opened again. Called by `tollgate account …` and by the console.

import { eq } from 'drizzle-orm';
import type { Standing } from '../core/admit.ts';
import type { Account } from '../identity/accounts.ts';
import type { Actor } from '../identity/audit.ts';
import { normaliseKeyName } from '../identity/keys.ts';
import { forgetThinking } from '../reasoning/reasoning.ts';
import type { Database } from '../store/contract.ts';
import { accountDeletions, users } from '../store/sign-in-tables.ts';
import { accounts } from '../store/tables.ts';
import { parseAmount, requireReason } from './amounts.ts';
import type { OperationDependencies } from './dependencies.ts';
import { moveMoney } from './movements.ts';

/** As people write it. */
type AccountRequest = {
  readonly email: string;
  readonly plan: string;
  readonly emailVerified: boolean;
  /** Service tokens to start with. */
  readonly credit?: string | undefined;
  /** Of the first key. */
  readonly keyName?: string | undefined;
};

/** `key` is the whole key, which nobody sees again. Throws before anything is there, or `IdentityError`. */
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
  // The key comes last: who has it knows that all the rest is done.
  const { key } = await parts.keys.create({ accountId: account.id, name }, actor);
  return { account, key };
}

/**
 * To be deleted: its keys and books are kept and refused, what was kept of its thinking is not. To be
 * active again: also what its owner has asked, to have it deleted, is taken back.
 */
export async function changeStanding(
  { accounts, database }: Pick<OperationDependencies, 'accounts' | 'database'>,
  accountId: string,
  standing: Standing,
  actor: Actor,
  reason?: string,
): Promise<Account> {
  const words = reason === undefined || reason.trim() === '' ? undefined : requireReason(reason);
  const changed = await database.transaction(async (tx) => {
    // Nothing may come to delete what is served.
    if (standing === 'active') {
      await tx.delete(accountDeletions).where(eq(accountDeletions.accountId, accountId)).run();
    }
    return accounts.within.changeStanding(accountId, standing, actor, words);
  });
  if (standing === 'pending_deletion') await forgetThinking(database, changed.id);
  return changed;
}

/**
 * The owner of an account and the deletion that they asked for; null where there is none.
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
