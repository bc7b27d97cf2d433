// Accounts with their plan and standing. Called by the command line and the dashboard. Every change
// is one transaction with its audit event, and takes effect at once.

import { asc, count, eq, sql } from 'drizzle-orm';
import type { Standing } from '../core/admit.ts';
import { createId } from '../core/id.ts';
import type { Plan } from '../core/plan.ts';
import type { Database, Queries } from '../store/contract.ts';
import { accounts } from '../store/tables.ts';
import { type Actor, type AuditAction, auditChange, type Basics } from './audit.ts';
import { IdentityError } from './error.ts';

export type Account = typeof accounts.$inferSelect;

type NewAccount = {
  readonly email: string;
  readonly plan: string;
  readonly emailVerified: boolean;
};

export type Accounts = ReturnType<typeof createAccounts>;

const EMAIL_LENGTH_MAX = 254;
const EMAIL_SHAPE = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+\.[^\s@\p{Cc}.]+$/u;

/** Normalizes an e-mail address. Throws `invalid_email`. */
export function normaliseEmail(text: string): string {
  const email = text.trim().normalize('NFC').toLowerCase();
  if (email.length <= EMAIL_LENGTH_MAX && EMAIL_SHAPE.test(email)) return email;
  throw new IdentityError(
    'invalid_email',
    `The e-mail address is not valid. It needs the form name@example.com and at most ${EMAIL_LENGTH_MAX} characters.`,
  );
}

export function unknownAccount(): IdentityError {
  return new IdentityError('account_not_found', 'There is no account with this id.');
}

export function createAccounts(
  dependencies: Basics & {
    /** The current plans of the catalog. */
    readonly plans: () => ReadonlyMap<string, Plan>;
    /** Gives the new account its zero balance, in the transaction that creates it. */
    readonly openBalance: (tx: Queries, accountId: string) => Promise<void>;
  },
) {
  const { database, clock, randomBytes, plans, openBalance } = dependencies;
  const { db } = database;

  function requirePlan(slug: string): void {
    if (plans().has(slug)) return;
    throw new IdentityError(
      'unknown_plan',
      `There is no plan with this slug. The plans are ${[...plans().keys()].join(', ')}.`,
    );
  }

  async function get(id: string): Promise<Account> {
    const account = await db.select().from(accounts).where(eq(accounts.id, id)).get();
    if (account !== undefined) return account;
    throw unknownAccount();
  }

  /** Finds by id or by e-mail address. Throws `account_not_found`. */
  async function find(idOrEmail: string): Promise<Account> {
    if (!idOrEmail.includes('@')) return get(idOrEmail);
    const email = normaliseEmail(idOrEmail);
    const account = await db.select().from(accounts).where(eq(accounts.email, email)).get();
    if (account !== undefined) return account;
    throw new IdentityError('account_not_found', 'There is no account with this e-mail address.');
  }

  /** Call inside a transaction. */
  async function insert(facts: NewAccount, actor: Actor): Promise<Account> {
    const email = normaliseEmail(facts.email);
    requirePlan(facts.plan);
    const now = clock();
    const account: Account = {
      id: createId('acct_', randomBytes),
      email,
      plan: facts.plan,
      planSince: now,
      standing: 'active',
      emailVerified: facts.emailVerified,
      createdAt: now,
    };
    const taken = await db.select().from(accounts).where(eq(accounts.email, email)).get();
    if (taken !== undefined) {
      throw new IdentityError(
        'email_taken',
        `An account with this e-mail address exists already: ${taken.id}.`,
      );
    }
    await db.insert(accounts).values(account).run();
    await openBalance(db, account.id);
    const { id, plan, emailVerified } = account;
    const change = { database, randomBytes, actor, clock: () => now };
    const detail = { plan, email_verified: emailVerified };
    await auditChange(change, 'account.created', id, detail, id);
    return account;
  }

  /**
   * Writes the fields that differ, and the audit event; without a difference it writes nothing.
   * Call inside a transaction.
   */
  async function change(
    id: string,
    action: AuditAction,
    field: 'plan' | 'standing' | 'emailVerified',
    changes: Partial<Account>,
    actor: Actor,
    reason?: string,
  ): Promise<Account> {
    const before = await get(id);
    const after = { ...before, ...changes };
    if (before[field] === after[field]) return before;
    await db.update(accounts).set(changes).where(eq(accounts.id, id)).run();
    const detail = {
      from: before[field],
      to: after[field],
      ...(reason === undefined ? {} : { reason }),
    };
    await auditChange({ ...dependencies, actor }, action, id, detail, id);
    return after;
  }

  /** `pending_deletion` keeps the keys: they are rejected, and work again when it is cancelled. */
  const changeStanding = (id: string, standing: Standing, actor: Actor, reason?: string) =>
    change(id, 'account.standing_changed', 'standing', { standing }, actor, reason);

  const verifyEmail = (id: string, actor: Actor) =>
    change(id, 'account.email_verified', 'emailVerified', { emailVerified: true }, actor);

  return {
    /** The same inside the caller's transaction, for callers that write more. */
    within: { create: insert, changeStanding, verifyEmail },
    create: (facts: NewAccount, actor: Actor): Promise<Account> =>
      database.transaction(() => insert(facts, actor)),
    get,
    find,
    /** All accounts, oldest first. */
    list: async (): Promise<Account[]> =>
      db.select().from(accounts).orderBy(asc(accounts.createdAt), sql`rowid`).all(),
    /** Takes effect at once; `planSince` restarts. */
    async changePlan(id: string, plan: string, actor: Actor): Promise<Account> {
      requirePlan(plan);
      const changes = { plan, planSince: clock() };
      return database.transaction(() => change(id, 'account.plan_changed', 'plan', changes, actor));
    },
    changeStanding: (...facts: Parameters<typeof changeStanding>): Promise<Account> =>
      database.transaction(() => changeStanding(...facts)),
    verifyEmail: (id: string, actor: Actor): Promise<Account> =>
      database.transaction(() => verifyEmail(id, actor)),
  };
}

/** The plans in use with their number of accounts, in the order of their slugs. */
export async function accountsByPlan({
  db,
}: Database): Promise<readonly (readonly [string, number])[]> {
  return (
    await db
      .select({ plan: accounts.plan, accounts: count() })
      .from(accounts)
      .groupBy(accounts.plan)
      .orderBy(asc(accounts.plan))
      .all()
  ).map((row) => [row.plan, Number(row.accounts)]);
}
