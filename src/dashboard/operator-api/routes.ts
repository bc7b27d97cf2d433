// The routes of the operators' API: accounts, keys, credits, usage and prices.

import { Type } from '@sinclair/typebox';
import { DAY_MS, isoTime, utcDay } from '../../core/calendar.ts';
import { parseInstant } from '../../core/instant.ts';
import { formatTokens, formatUsd } from '../../core/money.ts';
import { createSpend } from '../../ledger/spend.ts';
import {
  accountRecord,
  printedAccount,
  readAccount,
  searchAccounts,
} from '../../operations/account-records.ts';
import { createAccount } from '../../operations/accounts.ts';
import { priceSheet } from '../../operations/price-sheet.ts';
import { invalidRequest } from '../edge/error.ts';
import { numberedList, PAGE_QUERY } from '../edge/page.ts';
import { ACCOUNT_FILTER, accountFilter } from '../operator/accounts.ts';
import { type PeopleDependencies, partsOf } from '../operator/dependencies.ts';
import { creditRoute } from './credits.ts';
import { keyRoutes } from './keys.ts';
import { needs, type TokenRoute } from './route.ts';

const USAGE_DAYS_MAX = 366;

export function operatorApiRoutes(dependencies: PeopleDependencies): readonly TokenRoute[] {
  return [
    ...accountRoutes(dependencies),
    ...keyRoutes(dependencies),
    creditRoute(dependencies),
    usageRoute(dependencies),
    priceRoute(dependencies),
  ];
}

function accountRoutes(dependencies: PeopleDependencies): readonly TokenRoute[] {
  const parts = partsOf(dependencies);
  const { accounts, database, clock, catalog } = parts;
  const read = async (id: string) => printedAccount(await readAccount(parts, id));
  return [
    needs('accounts:read', 'list_accounts', {
      method: 'GET',
      path: '/accounts',
      query: { ...PAGE_QUERY, ...ACCOUNT_FILTER },
      handle: ({ query }) =>
        numberedList(
          query,
          (page) => searchAccounts(database, accountFilter(query), { ...page, nowMs: clock() }),
          (found) => printedAccount(accountRecord(found, catalog())),
          ({ number }) => number,
        ),
    }),
    needs('accounts:write', 'create_account', {
      method: 'POST',
      path: '/accounts',
      body: {
        email: Type.String({ maxLength: 300 }),
        plan: Type.String({ maxLength: 100 }),
        email_verified: Type.Optional(Type.Boolean()),
      },
      async handle({ body, actor }) {
        const { email, plan, email_verified: emailVerified = false } = body;
        const made = await createAccount(parts, { email, plan, emailVerified }, actor);
        return { account: await read(made.account.id), key: made.key };
      },
    }),
    needs('accounts:read', 'get_account', {
      method: 'GET',
      path: '/accounts/:id',
      handle: async ({ param }) => read((await accounts.find(param('id'))).id),
    }),
  ];
}

function usageRoute(dependencies: PeopleDependencies): TokenRoute {
  const { accounts, clock, catalog } = partsOf(dependencies);
  const spend = createSpend(dependencies.store.database);
  return needs('usage:read', 'get_usage', {
    method: 'GET',
    path: '/accounts/:id/usage',
    query: {
      from: Type.Optional(Type.String({ maxLength: 40 })),
      until: Type.Optional(Type.String({ maxLength: 40 })),
    },
    async handle({ param, query }) {
      const { id } = await accounts.find(param('id'));
      const span = readSpan(query, clock());
      const { usdPerMillion } = catalog();
      const days = await spend.byDay(id, span);
      return {
        ...{ object: 'list', account: id },
        data: days.map((day) => ({
          day: isoTime(day.dayMs).slice(0, 10),
          requests: day.requests,
          input_tokens: day.inputTokens,
          output_tokens: day.outputTokens,
          debited: formatTokens(day.debited),
          debited_usd: formatUsd(day.debited, usdPerMillion),
        })),
      };
    },
  });
}

function priceRoute(dependencies: PeopleDependencies): TokenRoute {
  const { catalog, clock } = dependencies;
  return needs('prices:read', 'get_prices', {
    method: 'GET',
    path: '/prices',
    handle: () => priceSheet(catalog(), catalog().models, clock()),
  });
}

/** Whole UTC days; by default the last 30. */
function readSpan(query: { readonly from?: string; readonly until?: string }, nowMs: number) {
  const dayOf = (name: 'from' | 'until', otherwise: number): number => {
    const text = query[name];
    if (text === undefined) return otherwise;
    const time = parseInstant(`${text}T00:00:00Z`);
    if (time !== undefined) return time;
    throw invalidRequest(`${name} is a day such as 2026-11-23.`, name);
  };
  const untilMs = dayOf('until', utcDay(nowMs).untilMs);
  const fromMs = dayOf('from', untilMs - 30 * DAY_MS);
  if (fromMs < untilMs && untilMs - fromMs <= USAGE_DAYS_MAX * DAY_MS) return { fromMs, untilMs };
  throw invalidRequest(`Ask for 1 to ${USAGE_DAYS_MAX} days.`, 'from');
}
