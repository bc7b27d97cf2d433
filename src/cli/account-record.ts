// An account as the operator sees it. Called by the commands that show or change one.

import { isoTime } from '../core/calendar.ts';
import type { Account } from '../identity/accounts.ts';
import { balanceRecord } from '../ledger/balance-record.ts';
import type { Context, Store } from './context.ts';

/** The catalog first: a broken one refuses the command before it has changed anything. */
export function openAccounts(context: Context): Store {
  context.catalog();
  return context.openStore();
}

/** The account as the operator sees it, e-mail address included. */
export function accountRecord(context: Context, account: Account) {
  const { keys, books } = openAccounts(context);
  const catalog = context.catalog();
  const plan = catalog.plans.get(account.plan);
  return {
    id: account.id,
    object: 'account',
    email: account.email,
    email_verified: account.emailVerified,
    standing: account.standing,
    plan: {
      slug: account.plan,
      name: plan?.name ?? account.plan,
      since: isoTime(account.planSince),
    },
    balance: balanceRecord(books.balance(account.id), catalog.usdPerMillion),
    api_keys: { active: keys.countActive(account.id), limit: plan?.maxApiKeys ?? 0 },
    created_at: isoTime(account.createdAt),
  } as const;
}
