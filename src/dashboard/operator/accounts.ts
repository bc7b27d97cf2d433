// Account routes of the console: search, create, show, change the plan, verify, suspend, close and
// reopen. Balances are changed in movements.ts.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { findBlock } from '../../identity/block-list.ts';
import { keyRecord } from '../../identity/key-record.ts';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import { accountRecord, readAccount, searchAccounts } from '../../operations/account-records.ts';
import { limitUsage } from '../../operations/account-view.ts';
import { changeStanding, createAccount, readOwner } from '../../operations/accounts.ts';
import { blockSummary } from '../../operations/blocks.ts';
import { type List, listOf, numberedList, PAGE_QUERY, readPage, wholeList } from '../edge/page.ts';
import { oneOf, type Route, sessionRoute, stepUpRoute } from '../edge/route.ts';
import type { KeyRecord } from '../records/key.ts';
import type {
  AccountDetailRecord,
  CreatedAccountRecord,
  OperatorAccountRecord,
  PlanRecord,
} from '../records/operator-account.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

const STANDINGS = ['active', 'suspended', 'pending_deletion'] as const;

export function accountRoutes(
  dependencies: PeopleDependencies,
): readonly Route<SignedInOperator>[] {
  const parts = partsOf(dependencies);
  const { accounts, keys, database, clock } = parts;

  return [
    sessionRoute({
      method: 'GET',
      path: '/plans',
      handle: (): List<PlanRecord> =>
        wholeList([...parts.catalog().plans.values()].map(({ slug, name }) => ({ slug, name }))),
    }),
    sessionRoute({
      method: 'GET',
      path: '/accounts',
      query: {
        ...PAGE_QUERY,
        text: Type.Optional(Type.String({ maxLength: 254 })),
        plan: Type.Optional(Type.String({ maxLength: 100 })),
        standing: Type.Optional(oneOf([...STANDINGS, 'blocked'])),
        verified: Type.Optional(oneOf(['yes', 'no'])),
      },
      handle({ query }): Promise<List<OperatorAccountRecord>> {
        const { text, plan, standing, verified } = query;
        const filter = {
          text: text?.trim() === '' ? undefined : text,
          plan,
          standing,
          emailVerified: verified === undefined ? undefined : verified === 'yes',
        };
        return numberedList(
          query,
          (page) => searchAccounts(database, filter, { ...page, nowMs: clock() }),
          (row) => accountRecord(row, parts.catalog()),
          ({ number }) => number,
        );
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/accounts',
      body: {
        email: Type.String({ maxLength: 300 }),
        plan: Type.String({ maxLength: 100 }),
        email_verified: Type.Boolean(),
        key_name: Type.Optional(Type.String({ maxLength: 400 })),
      },
      async handle({ body, actor }): Promise<CreatedAccountRecord> {
        const { email, plan, email_verified: emailVerified, key_name: keyName } = body;
        const request = { email, plan, emailVerified, keyName };
        const { account, key } = await createAccount(parts, request, actor);
        return { account: await readAccount(parts, account.id), key };
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/accounts/:id',
      handle: async ({ param }): Promise<AccountDetailRecord> => detail(dependencies, param('id')),
    }),
    sessionRoute({
      method: 'GET',
      path: '/accounts/:id/keys',
      query: PAGE_QUERY,
      async handle({ param, query }): Promise<List<KeyRecord>> {
        const page = readPage(query);
        const { id } = await accounts.get(param('id'));
        return listOf(
          await keys.page(id, page),
          page,
          (row) => keyRecord(row, clock()),
          ({ id: keyId }) => keyId,
        );
      },
    }),
    // A plan change can remove models and limits as well as add them.
    stepUpRoute({
      method: 'POST',
      path: '/accounts/:id/plan',
      body: { plan: Type.String({ maxLength: 100 }) },
      async handle({ param, body, actor }): Promise<OperatorAccountRecord> {
        const { id } = await accounts.changePlan(param('id'), body.plan, actor);
        return readAccount(parts, id);
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/accounts/:id/verify',
      async handle({ param, actor }): Promise<OperatorAccountRecord> {
        const { id } = await accounts.verifyEmail(param('id'), actor);
        return readAccount(parts, id);
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/accounts/:id/standing',
      body: {
        standing: oneOf(STANDINGS),
        reason: Type.Optional(Type.String({ maxLength: 1_000 })),
      },
      async handle({ param, body: { standing, reason }, actor }): Promise<OperatorAccountRecord> {
        const { id } = await accounts.get(param('id'));
        await changeStanding(parts, id, standing, actor, reason);
        return readAccount(parts, id);
      },
    }),
  ];
}

async function detail(dependencies: PeopleDependencies, id: string): Promise<AccountDetailRecord> {
  const parts = partsOf(dependencies);
  const account = await readAccount(parts, id);
  const plan = parts.catalog().plans.get(account.plan.slug);
  const { owner, deletion } = (await readOwner(parts.database, id)) ?? {};
  return {
    ...account,
    limits:
      plan === undefined
        ? null
        : {
            requests_per_minute: plan.requestsPerMinute,
            tokens_per_minute: plan.tokensPerMinute,
            concurrent_requests: plan.concurrentRequests,
            daily_tokens: plan.dailyTokens ?? null,
            monthly_tokens: plan.monthlyTokens ?? null,
          },
    usage: plan === undefined ? null : await limitUsage(dependencies, id, plan),
    block: blockSummary(await findBlock(parts.database, 'account', id, parts.clock())),
    owner: owner ? { two_factor: owner.twoFactor, signed_up_at: isoTime(owner.createdAt) } : null,
    deletion: deletion
      ? { asked_at: isoTime(deletion.askedAt), due_at: isoTime(deletion.dueAt) }
      : null,
  };
}
