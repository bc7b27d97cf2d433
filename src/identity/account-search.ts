// Accounts as an operator looks for them, a page at a time, newest first. However many accounts there
// are, a page reads each of them at most once and keeps none but its own. Nothing here writes.

import { and, desc, eq, inArray, lt, or, type SQL, sql } from 'drizzle-orm';
import type { Standing } from '../core/admit.ts';
import type { Database } from '../store/contract.ts';
import { beginsWith, contains } from '../store/portable.ts';
import { accounts, blocks } from '../store/tables.ts';
import type { Account } from './accounts.ts';
import { isInForce } from './blocks.ts';

export type AccountFilter = {
  /** A part of the e-mail address, or what an id begins with. */
  readonly text?: string | undefined;
  readonly plan?: string | undefined;
  /** `blocked` is on the blocklist, whatever the standing. */
  readonly standing?: Standing | 'blocked' | undefined;
  readonly emailVerified?: boolean | undefined;
};

/** An account with its number among all of them, which rises with every account that is created. */
export type NumberedAccount = { readonly account: Account; readonly number: number };

/** At most `limit` accounts; those before the number `before` where it is given. */
export async function searchAccounts(
  { db }: Database,
  filter: AccountFilter,
  { limit, before, nowMs }: { limit: number; before: number | undefined; nowMs: number },
): Promise<readonly NumberedAccount[]> {
  const number = sql<number>`${accounts}.rowid`.mapWith(Number);
  const { text, plan, standing, emailVerified } = filter;
  return db
    .select({ account: accounts, number })
    .from(accounts)
    .where(
      and(
        before === undefined ? undefined : lt(number, before),
        text === undefined ? undefined : isNamed(text),
        plan === undefined ? undefined : eq(accounts.plan, plan),
        emailVerified === undefined ? undefined : eq(accounts.emailVerified, emailVerified),
        standing === 'blocked' ? isBlocked() : undefined,
        standing === undefined || standing === 'blocked'
          ? undefined
          : eq(accounts.standing, standing),
      ),
    )
    .orderBy(desc(number))
    .limit(limit)
    .all();

  function isBlocked(): SQL {
    const blocked = db
      .select({ id: blocks.value })
      .from(blocks)
      .where(and(eq(blocks.kind, 'account'), isInForce(nowMs)));
    return inArray(accounts.id, blocked);
  }
}

function isNamed(text: string): SQL | undefined {
  const email = text.trim().normalize('NFC').toLowerCase();
  return or(contains(accounts.email, email), beginsWith(accounts.id, text.trim()));
}
