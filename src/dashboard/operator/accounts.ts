// Account routes of the console: search, create, show, change the plan, verify, suspend, close and
// reopen. Balances are changed in approvals.ts and credits.ts.

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
import { type List, sortedList, sortedQuery, wholeList } from '../edge/page.ts';
import { type OperatorRoutes, oneOf, scopedRoute, sessionRoute, viewRoute } from '../edge/route.ts';
import {
  type AccountDetailRecord,
  accountAnswer,
  accountDetailAnswer,
  accountListAnswer,
  createdAccountAnswer,
  type ListedAccountRecord,
  type PlanRecord,
} from '../records/operator-account.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

const STANDINGS = ['active', 'suspended', 'pending_deletion'] as const;

const PLAN = Type.String({ maxLength: 100, description: 'The slug of a plan.' });

const ACCOUNT_FILTER = {
  text: Type.Optional(
    Type.String({
      maxLength: 254,
      description: 'A part of the e-mail address, or the beginning of an id.',
    }),
  ),
  plan: Type.Optional(PLAN),
  standing: Type.Optional(oneOf([...STANDINGS, 'blocked'], 'A block hides any other standing.')),
  verified: Type.Optional(oneOf(['yes', 'no'], 'Whether the e-mail address is verified.')),
};

export function accountRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { accounts, database, clock } = parts;
  const exports = createExports();

  return [
    viewRoute({
      path: '/plan-names',
      handle: (): List<PlanRecord> =>
        wholeList([...parts.catalog().plans.values()].map(({ slug, name }) => ({ slug, name }))),
    }),
    scopedRoute({
      method: 'GET',
      path: '/accounts',
      name: 'list_accounts',
      scope: 'accounts:read',
      summary: 'Lists accounts that match all filters, by default newest first.',
      query: { ...sortedQuery(ACCOUNT_FIELDS), ...ACCOUNT_FILTER },
      answer: accountListAnswer,
      handle: ({ query }) =>
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
    scopedRoute({
      method: 'POST',
      path: '/accounts',
      access: 'session',
      name: 'create_account',
      scope: 'accounts:write',
      summary: 'Creates an account with its first key, which is in no other answer.',
      body: {
        email: Type.String({
          maxLength: 300,
          description: 'The e-mail address, which no other account has.',
        }),
        plan: PLAN,
        email_verified: Type.Optional(
          Type.Boolean({ description: 'Whether the address counts as verified. Default: false.' }),
        ),
        key_name: Type.Optional(
          Type.String({ maxLength: 400, description: 'A name of the first key for people.' }),
        ),
      },
      answer: createdAccountAnswer,
      codes: ['invalid_email', 'email_taken', 'unknown_plan', 'invalid_key_name'],
      example: { email: 'eve@example.com', plan: 'pro', email_verified: true },
      async handle({ body, actor }) {
        const { email, plan, email_verified: emailVerified = false, key_name: keyName } = body;
        const request = { email, plan, emailVerified, keyName };
        const { account, key } = await createAccount(parts, request, actor);
        return { account: await readAccount(parts, account.id), key };
      },
    }),
    scopedRoute({
      method: 'GET',
      path: '/accounts/:id',
      name: 'get_account',
      scope: 'accounts:read',
      summary: 'Returns one account with its balance, its limits and their use.',
      answer: accountDetailAnswer,
      handle: async ({ param }) => detail(dependencies, (await accounts.find(param('id'))).id),
    }),
    // A plan change can remove models and limits as well as add them.
    scopedRoute({
      method: 'POST',
      path: '/accounts/:id/plan',
      name: 'change_plan',
      scope: 'accounts:manage',
      summary: 'Moves an account to another plan.',
      body: { plan: PLAN },
      answer: accountAnswer,
      codes: ['unknown_plan'],
      example: { plan: 'pro' },
      async handle({ param, body, actor }) {
        const { id } = await accounts.find(param('id'));
        await accounts.changePlan(id, body.plan, actor);
        return readAccount(parts, id);
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/accounts/:id/verify',
      access: 'session',
      name: 'verify_account',
      scope: 'accounts:manage',
      summary: 'Marks the e-mail address of an account as verified.',
      answer: accountAnswer,
      async handle({ param, actor }) {
        const { id } = await accounts.find(param('id'));
        await accounts.verifyEmail(id, actor);
        return readAccount(parts, id);
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/accounts/:id/standing',
      name: 'change_standing',
      scope: 'accounts:manage',
      summary: 'Suspends an account, marks it for deletion, or makes it active again.',
      body: {
        standing: oneOf(STANDINGS, 'The new standing.'),
        reason: Type.Optional(
          Type.String({ maxLength: 1_000, description: 'Kept in the audit trail.' }),
        ),
      },
      answer: accountAnswer,
      codes: ['invalid_reason'],
      example: { standing: 'suspended', reason: 'chargeback' },
      async handle({ param, body: { standing, reason }, actor }) {
        const { id } = await accounts.find(param('id'));
        await changeStanding(parts, id, standing, actor, reason);
        return readAccount(parts, id);
      },
    }),
  ];
}

function accountFilter(query: Static<TObject<typeof ACCOUNT_FILTER>>): AccountFilter {
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
  ['standing', (account) => csvCell(account.standing_without_block)],
  ['blocked', ({ standing }) => csvCell(standing === 'blocked')],
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
