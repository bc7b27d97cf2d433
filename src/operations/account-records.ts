// Reads accounts for operators, each with its balance, its active keys and its block: one account,
// or a page of those that match a filter, newest first. Each is one query. Read-only.

import { and, desc, eq, inArray, lt, not, or, type SQL, sql } from 'drizzle-orm';
import type { Standing } from '../core/admit.ts';
import { isoTime } from '../core/calendar.ts';
import type { Catalog } from '../core/model.ts';
import { type Micro, subtract } from '../core/money.ts';
import { type Account, unknownAccount } from '../identity/accounts.ts';
import { isInForce } from '../identity/blocks.ts';
import { isActiveKey } from '../identity/key-queries.ts';
import { balanceRecord } from '../ledger/balance-record.ts';
import type { Database } from '../store/contract.ts';
import { balances } from '../store/money-tables.ts';
import { beginsWith, contains } from '../store/portable.ts';
import { accounts, apiKeys, blocks } from '../store/tables.ts';
import type { OperationDependencies } from './dependencies.ts';

export type AccountFilter = {
  /** A part of the e-mail address, or the beginning of an id. */
  readonly text?: string | undefined;
  readonly plan?: string | undefined;
  /** As it is printed: a block hides any other standing. */
  readonly standing?: Standing | 'blocked' | undefined;
  readonly emailVerified?: boolean | undefined;
};

export type FoundAccount = {
  readonly account: Account;
  /** Rises with every account that is created. */
  readonly number: number;
  readonly posted: Micro;
  readonly held: Micro;
  readonly activeKeys: number;
  readonly isBlocked: boolean;
};

export const accountNumber = sql<number>`${accounts}.rowid`.mapWith(Number);

/** At most `limit` accounts, newest first; only those below the number `before` where it is given. */
export async function searchAccounts(
  database: Pick<Database, 'db'>,
  filter: AccountFilter,
  { limit, before, nowMs }: { limit: number; before: number | undefined; nowMs: number },
): Promise<readonly FoundAccount[]> {
  const older = before === undefined ? undefined : lt(accountNumber, before);
  return selectAccounts(database, and(older, matchesFilter(filter, nowMs)), limit, nowMs);
}

/** The accounts with these ids, in no order. */
export async function accountsOf(
  database: Pick<Database, 'db'>,
  ids: readonly string[],
  nowMs: number,
): Promise<readonly FoundAccount[]> {
  if (ids.length === 0) return [];
  return selectAccounts(database, inArray(accounts.id, [...ids]), ids.length, nowMs);
}

export function matchesFilter(
  { text, plan, standing, emailVerified }: AccountFilter,
  nowMs: number,
): SQL | undefined {
  return and(
    text === undefined ? undefined : isNamed(text),
    plan === undefined ? undefined : eq(accounts.plan, plan),
    emailVerified === undefined ? undefined : eq(accounts.emailVerified, emailVerified),
    standing === undefined ? undefined : hasStanding(standing, nowMs),
  );
}

function hasStanding(standing: Standing | 'blocked', nowMs: number): SQL | undefined {
  const isListed = isBlocked(nowMs);
  return standing === 'blocked' ? isListed : and(eq(accounts.standing, standing), not(isListed));
}

function isBlocked(nowMs: number): SQL {
  return sql`${accounts.id} in (select ${blocks.value} from ${blocks}
    where ${and(eq(blocks.kind, 'account'), isInForce(nowMs))})`;
}

function selectAccounts(
  { db }: Pick<Database, 'db'>,
  where: SQL | undefined,
  limit: number,
  nowMs: number,
) {
  return db
    .select({
      account: accounts,
      number: accountNumber,
      posted: sql<Micro>`coalesce(${balances.posted}, 0)`.mapWith(balances.posted),
      held: sql<Micro>`coalesce(${balances.held}, 0)`.mapWith(balances.held),
      activeKeys: db
        .$count(apiKeys, and(eq(apiKeys.accountId, accounts.id), isActiveKey(nowMs)))
        .mapWith(Number),
      isBlocked: isBlocked(nowMs).mapWith(Boolean),
    })
    .from(accounts)
    .leftJoin(balances, eq(balances.accountId, accounts.id))
    .where(where)
    .orderBy(desc(accountNumber))
    .limit(limit)
    .all();
}

/** One account. Throws `account_not_found`. */
export async function readAccount(
  { database, catalog, clock }: Pick<OperationDependencies, 'database' | 'catalog' | 'clock'>,
  id: string,
) {
  const [found] = await accountsOf(database, [id], clock());
  if (found === undefined) throw unknownAccount();
  return accountRecord(found, catalog());
}

/** For operators, e-mail address included. */
export function accountRecord(
  { account, posted, held, activeKeys, isBlocked }: FoundAccount,
  catalog: Catalog,
) {
  const plan = catalog.plans.get(account.plan);
  return {
    id: account.id,
    object: 'account',
    email: account.email,
    email_verified: account.emailVerified,
    /** A block hides any other standing. */
    standing: isBlocked ? 'blocked' : account.standing,
    standing_without_block: account.standing,
    plan: {
      slug: account.plan,
      name: plan?.name ?? account.plan,
      since: isoTime(account.planSince),
    },
    balance: balanceRecord(
      { posted, held, available: subtract(posted, held) },
      catalog.usdPerMillion,
    ),
    api_keys: { active: activeKeys, limit: plan?.maxApiKeys ?? 0 },
    created_at: isoTime(account.createdAt),
  } as const;
}

/** For the command line. */
export function printedAccount({
  standing_without_block: _hidden,
  ...record
}: ReturnType<typeof accountRecord>) {
  return record;
}

function isNamed(text: string): SQL | undefined {
  const email = text.trim().normalize('NFC').toLowerCase();
  return or(contains(accounts.email, email), beginsWith(accounts.id, text.trim()));
}
