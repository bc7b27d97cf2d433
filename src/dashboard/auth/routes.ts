// Every route of signing in, for each of the two applications. The first that a visitor meets, so
// they are the ones that are open to everybody; `src/identity/sign-in/` decides what they let in.

import { isoTime } from '../../core/calendar.ts';
import type { Account } from '../../identity/accounts.ts';
import type { SignedIn, SignedInCustomer, SignedInOperator } from '../../identity/signed-in.ts';
import type { DashboardDependencies } from '../dependencies.ts';
import type { Route } from '../edge/route.ts';
import type { SessionAccountRecord } from '../records/auth.ts';
import { deletionRoutes } from './deletion.ts';
import { entranceRoutes } from './entrance.ts';
import type { AuthDependencies } from './parts.ts';
import { passwordRoutes } from './passwords.ts';
import { sessionRoutes } from './sessions.ts';
import { signUpRoutes } from './sign-up.ts';
import { twoFactorRoutes } from './two-factor.ts';
import { whoRoutes } from './who.ts';

export function customerAuthRoutes(
  dependencies: DashboardDependencies,
): readonly (Route<SignedInCustomer> | Route<undefined>)[] {
  const { signIn, mailMode, store, operator } = dependencies;
  const parts: AuthDependencies<SignedInCustomer> = { signIn, realm: signIn.customer, mailMode };

  async function accountOf({ accountId }: SignedInCustomer): Promise<SessionAccountRecord> {
    const account = await store.accounts.get(accountId);
    const dueAt = await signIn.customer.deletionDueAt(accountId);
    return {
      id: account.id,
      plan: planOf(account),
      standing: operator().blocklist.accountBlocked(accountId) ? 'blocked' : account.standing,
      deletion_due_at: dueAt === undefined ? null : isoTime(dueAt),
    };
  }

  /** A plan that the catalog has no more is shown by its slug. */
  function planOf({ plan: slug }: Account): SessionAccountRecord['plan'] {
    return { slug, name: operator().catalog.plans.get(slug)?.name ?? slug };
  }

  return [
    ...shared(parts),
    ...whoRoutes(parts, 'customer', accountOf),
    ...signUpRoutes(signIn, mailMode),
    ...deletionRoutes(signIn),
  ];
}

export function operatorAuthRoutes(
  dependencies: DashboardDependencies,
): readonly (Route<SignedInOperator> | Route<undefined>)[] {
  const { signIn, mailMode } = dependencies;
  const parts: AuthDependencies<SignedInOperator> = { signIn, realm: signIn.operator, mailMode };
  return [...shared(parts), ...whoRoutes(parts, 'operator', async () => null)];
}

function shared<Who extends SignedIn>(
  parts: AuthDependencies<Who>,
): readonly (Route<Who> | Route<undefined>)[] {
  return [
    ...entranceRoutes(parts),
    ...passwordRoutes(parts),
    ...sessionRoutes(parts),
    ...twoFactorRoutes(parts),
  ];
}
