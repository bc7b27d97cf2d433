// Account routes of the console: search, create, show, change the plan, verify, suspend, close and
// reopen. Balances are changed in approvals.ts.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import type { Catalog } from '../../core/model.ts';
import { findBlock } from '../../identity/blocks.ts';
import {
  ACCOUNT_FIELDS,
  type AccountField,
  listAccounts,
  listedAccountRecord,
} from '../../operations/account-list.ts';
import { type AccountFilter, readAccount } from '../../operations/account-records.ts';
import { limitUsage } from '../../operations/account-view.ts';
import { changeStanding, createAccount, readOwner } from '../../operations/accounts.ts';
import { blockSummary } from '../../operations/blocks.ts';
import type { Database } from '../../store/contract.ts';
import type { SortedPage } from '../../store/keyset.ts';
import { createExports } from '../customer/exports.ts';
import { CSV_TYPE, csvCell } from '../customer/requests-csv.ts';
import { createUsageReader, USAGE_QUERY } from '../customer/usage.ts';
import { type List, PAGE_QUERY, sortedList, sortedQuery, wholeList } from '../edge/page.ts';
import { type OperatorRoutes, oneOf, sessionRoute, stepUpRoute, viewRoute } from '../edge/route.ts';
import { listKeys } from '../key-bounds.ts';
import type { UsageRecord } from '../records/customer-usage.ts';
import type { BoundKeyRecord } from '../records/key.ts';
import type {
  AccountDetailRecord,
  CreatedAccountRecord,
  ListedAccountRecord,
  OperatorAccountRecord,
  PlanRecord,
} from '../records/operator-account.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

const STANDINGS = ['active', 'suspended', 'pending_deletion'] as const;

export const ACCOUNT_FILTER = {
  text: Type.Optional(Type.String({ maxLength: 254 })),
  plan: Type.Optional(Type.String({ maxLength: 100 })),
  standing: Type.Optional(oneOf([...STANDINGS, 'blocked'])),
  verified: Type.Optional(oneOf(['yes', 'no'])),
};

export function accountRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { accounts, database, clock } = parts;
  const exports = createExports();
  const readUsage = createUsageReader(dependencies);

  return [
    viewRoute({
      path: '/plan-names',
      handle: (): List<PlanRecord> =>
        wholeList([...parts.catalog().plans.values()].map(({ slug, name }) => ({ slug, name }))),
    }),
    viewRoute({
      path: '/accounts',
      query: { ...sortedQuery(ACCOUNT_FIELDS), ...ACCOUNT_FILTER },
      handle: ({ query }): Promise<List<ListedAccountRecord>> =>
        sortedList(
          query,
          '-created',
          (page: SortedPage<AccountField>) =>
            listAccounts(database, accountFilter(query), page, clock()),
          (row) => listedAccountRecord(row, parts.catalog()),
          ({ place }) => place,
          ['email', 'plan', 'standing'],
        ),
    }),
    sessionRoute({
      method: 'GET',
      path: '/accounts/export',
      permission: 'accounts.export',
      query: ACCOUNT_FILTER,
      handle: (call): Promise<Response> =>
        exports.serve(call, call.who.userId, () => {
          const pages = accountPages(database, accountFilter(call.query), clock());
          return {
            pieces: accountsCsv(pages, parts.catalog()),
            type: CSV_TYPE,
            filename: `accounts-${isoTime(clock()).slice(0, 10)}.csv`,
          };
        }),
    }),
    sessionRoute({
      method: 'POST',
      path: '/accounts',
      permission: 'accounts.manage',
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
    viewRoute({
      path: '/accounts/:id',
      handle: async ({ param }): Promise<AccountDetailRecord> => detail(dependencies, param('id')),
    }),
    viewRoute({
      path: '/accounts/:id/keys',
      query: PAGE_QUERY,
      async handle({ param, query }): Promise<List<BoundKeyRecord>> {
        const { id } = await accounts.get(param('id'));
        return listKeys(parts, id, query);
      },
    }),
    viewRoute({
      path: '/accounts/:id/usage',
      query: USAGE_QUERY,
      async handle({ param, query }): Promise<UsageRecord> {
        const { id } = await accounts.get(param('id'));
        return readUsage(id, query);
      },
    }),
    // A plan change can remove models and limits as well as add them.
    stepUpRoute({
      method: 'POST',
      path: '/accounts/:id/plan',
      permission: 'accounts.manage',
      body: { plan: Type.String({ maxLength: 100 }) },
      async handle({ param, body, actor }): Promise<OperatorAccountRecord> {
        const { id } = await accounts.changePlan(param('id'), body.plan, actor);
        return readAccount(parts, id);
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/accounts/:id/verify',
      permission: 'accounts.manage',
      async handle({ param, actor }): Promise<OperatorAccountRecord> {
        const { id } = await accounts.verifyEmail(param('id'), actor);
        return readAccount(parts, id);
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/accounts/:id/standing',
      permission: 'accounts.manage',
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

export function accountFilter(query: Static<TObject<typeof ACCOUNT_FILTER>>): AccountFilter {
  const { text, plan, standing, verified } = query;
  return {
    text: text?.trim() === '' ? undefined : text,
    plan,
    standing,
    emailVerified: verified === undefined ? undefined : verified === 'yes',
  };
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

type Pages = AsyncGenerator<Awaited<ReturnType<typeof listAccounts>>, void>;

const PAGE = 200;

/** All accounts that match, page by page. */
async function* accountPages(
  database: Pick<Database, 'db'>,
  filter: AccountFilter,
  nowMs: number,
): Pages {
  const order = { field: 'created', descending: false } as const;
  for (let after: { value: number; tie: number } | undefined; ; ) {
    const rows = await listAccounts(database, filter, { limit: PAGE, order, after }, nowMs);
    yield rows;
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) return;
    after = { value: last.number, tie: last.number };
  }
}

type Column = readonly [name: string, value: (account: ListedAccountRecord) => string];

const month = (name: keyof ListedAccountRecord['last_30_days']): Column['1'] => {
  return (account) => String(account.last_30_days[name]);
};

/** Amounts are plain decimals, which never start a formula: a minus is followed by digits only. */
const COLUMNS: readonly Column[] = [
  ['account_id', ({ id }) => csvCell(id)],
  ['email', ({ email }) => csvCell(email)],
  ['email_verified', (account) => csvCell(account.email_verified)],
  ['standing', ({ standing }) => csvCell(standing)],
  ['blocked', ({ blocked }) => csvCell(blocked)],
  ['plan', ({ plan }) => csvCell(plan.slug)],
  ['created_at', (account) => csvCell(account.created_at)],
  ['last_active_at', (account) => csvCell(account.last_active_at ?? '')],
  ['active_keys', (account) => csvCell(account.api_keys.active)],
  ['svc_tokens_available', ({ balance }) => balance.available],
  ['usd_available', ({ balance }) => balance.available_usd],
  ['requests_30d', month('requests')],
  ['failed_30d', month('failed')],
  ['svc_tokens_spent_30d', month('spent')],
  ['usd_spent_30d', month('spent_usd')],
  ['usd_cost_30d', month('cost_usd')],
  ['usd_margin_30d', month('margin_usd')],
  ['requests_of_unknown_cost_30d', month('uncosted')],
];

async function* accountsCsv(
  pages: Pages,
  catalog: Catalog,
): AsyncGenerator<string, void, undefined> {
  yield `${COLUMNS.map(([name]) => csvCell(name)).join(',')}\r\n`;
  for await (const rows of pages) {
    const lines = rows.map((row) => {
      const record = listedAccountRecord(row, catalog);
      return COLUMNS.map(([, value]) => value(record)).join(',');
    });
    if (lines.length > 0) yield `${lines.join('\r\n')}\r\n`;
  }
}
