// The sign-in routes of the two applications.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { formatDecimal, MICRO_DECIMALS } from '../../core/money.ts';
import { permissionsOf } from '../../core/role.ts';
import type { Account } from '../../identity/accounts.ts';
import type { SignIn } from '../../identity/sign-in/contract.ts';
import type { SignUpMode } from '../../identity/sign-in/dependencies.ts';
import type { SignedIn, SignedInCustomer, SignedInOperator } from '../../identity/signed-in.ts';
import type { DashboardDependencies } from '../dependencies.ts';
import { publicRoute, type Route, sessionRoute, stepUpRoute } from '../edge/route.ts';
import type {
  DeletionRecord,
  MailedRecord,
  MailMode,
  SessionAccountRecord,
  SessionRecord,
  SessionUserRecord,
} from '../records/auth.ts';
import {
  type AuthDependencies,
  EMAIL,
  PASSWORD,
  provenUntil,
  signInResponse,
  TOKEN,
  visitOf,
} from './http.ts';
import { sharedRoutes } from './shared.ts';

export function customerAuthRoutes(
  dependencies: DashboardDependencies,
): readonly (Route<SignedInCustomer> | Route<undefined>)[] {
  const { signIn, mailMode, store, serviceState } = dependencies;
  const parts = { realm: signIn.customer, mailMode };

  async function accountOf({ accountId }: SignedInCustomer): Promise<SessionAccountRecord> {
    const account = await store.accounts.get(accountId);
    const dueAt = await signIn.customer.deletionDueAt(accountId);
    return {
      id: account.id,
      plan: planOf(account),
      standing: serviceState().blocklist.accountBlocked(accountId) ? 'blocked' : account.standing,
      deletion_due_at: dueAt === undefined ? null : isoTime(dueAt),
    };
  }

  /** A plan missing in the catalog is shown by its slug. */
  function planOf({ plan: slug }: Account): SessionAccountRecord['plan'] {
    return { slug, name: serviceState().catalog.plans.get(slug)?.name ?? slug };
  }

  return [
    ...sharedRoutes(parts),
    whoRoute(parts, { realm: 'customer', sign_up: signIn.mode }, serviceState, accountOf),
    ...customerRoutes(signIn, mailMode),
  ];
}

export function operatorAuthRoutes({
  signIn,
  mailMode,
  serviceState,
}: DashboardDependencies): readonly (Route<SignedInOperator> | Route<undefined>)[] {
  const parts = { realm: signIn.operator, mailMode };
  const facts = { realm: 'operator', sign_up: 'closed' } as const;
  return [...sharedRoutes(parts), whoRoute(parts, facts, serviceState, async () => null)];
}

function rightsOf(who: SignedIn): Pick<SessionUserRecord, 'role' | 'permissions'> {
  if (who.realm === 'customer') return { role: null, permissions: [] };
  return { role: who.role, permissions: permissionsOf(who.role) };
}

/** The session of the client: the first request of every page, for visitors too. */
function whoRoute<Who extends SignedIn>(
  { realm, mailMode }: AuthDependencies<Who>,
  facts: { readonly realm: Who['realm']; readonly sign_up: SignUpMode },
  serviceState: DashboardDependencies['serviceState'],
  accountOf: (who: Who) => Promise<SessionAccountRecord | null>,
): Route<undefined> {
  async function userRecord(who: Who): Promise<SessionUserRecord> {
    return {
      email: who.email,
      session_id: who.sessionId,
      two_factor: who.twoFactor,
      recovery_codes_left: (await realm.recoveryCodesLeft(who)) ?? null,
      proven_until: provenUntil(who.provenAt),
      expires_at: isoTime(who.expiresAt),
      ...rightsOf(who),
      account: await accountOf(who),
    };
  }

  return publicRoute({
    method: 'GET',
    path: '/auth/session',
    async handle({ request }): Promise<SessionRecord> {
      const who = await realm.read(request.headers);
      const user = who === undefined ? null : await userRecord(who);
      const usd_per_million = formatDecimal(serviceState().catalog.usdPerMillion, MICRO_DECIMALS);
      return { object: 'session', ...facts, mail: mailMode, usd_per_million, user };
    },
  });
}

/** For customers only. The response to a sign-up does not reveal whether the address is taken. */
function customerRoutes(
  { customer }: SignIn,
  mailMode: MailMode,
): readonly (Route<SignedInCustomer> | Route<undefined>)[] {
  return [
    publicRoute({
      method: 'POST',
      path: '/auth/signup',
      body: { email: EMAIL, password: PASSWORD, invite: Type.Optional(TOKEN) },
      async handle(call): Promise<MailedRecord> {
        await customer.signUp(call.body, visitOf(call));
        return { object: 'mailed', mail: mailMode };
      },
    }),
    publicRoute({
      method: 'POST',
      path: '/auth/verify-email',
      body: { token: TOKEN, password: PASSWORD },
      handle: async (call) => signInResponse(await customer.verifyEmail(call.body, visitOf(call))),
    }),
    stepUpRoute<SignedInCustomer>({
      method: 'POST',
      path: '/auth/deletion',
      handle: async (call): Promise<DeletionRecord> => ({
        object: 'deletion',
        due_at: isoTime(await customer.askDeletion(call.who, visitOf(call))),
      }),
    }),
    sessionRoute<SignedInCustomer>({
      method: 'DELETE',
      path: '/auth/deletion',
      standings: ['pending_deletion'],
      handle: (call) => customer.takeDeletionBack(call.who, visitOf(call)),
    }),
  ];
}
