// The routes of the operators' API: accounts, keys, credits, usage and prices. Each names its scope.

import { Type } from '@sinclair/typebox';
import { DAY_MS, isoTime, utcDay } from '../../core/calendar.ts';
import { parseInstant } from '../../core/instant.ts';
import { formatTokens, formatUsd } from '../../core/money.ts';
import type { Scope } from '../../core/operator-scope.ts';
import { keyRecord } from '../../identity/key-record.ts';
import { createSpend } from '../../ledger/spend.ts';
import { readAccount } from '../../operations/account-records.ts';
import { createAccount } from '../../operations/accounts.ts';
import { approvalRecord } from '../../operations/approval-records.ts';
import { askMovement, needsApproval, totalOf } from '../../operations/approvals.ts';
import { bookedCredit } from '../../operations/booked-credit.ts';
import { createBoundKey, editKey } from '../../operations/key-bounds.ts';
import { createdKeyRecord } from '../../operations/keys.ts';
import { moveMoney } from '../../operations/movements.ts';
import { priceSheet } from '../../operations/price-sheet.ts';
import { DashboardError } from '../edge/error.ts';
import { listOf, PAGE_QUERY, readPage } from '../edge/page.ts';
import { oneOf, publicRoute, type Route } from '../edge/route.ts';
import { BOUNDS_BODY, boundKeyRecord, boundKeyRecords, readBounds } from '../key-bounds.ts';
import { changeOf, type PeopleDependencies, partsOf } from '../operator/dependencies.ts';
import type { TokenRoute } from './app.ts';

const USAGE_DAYS_MAX = 366;

export function operatorApiRoutes(dependencies: PeopleDependencies): readonly TokenRoute[] {
  const parts = partsOf(dependencies);
  const { accounts, keys, database, clock, catalog } = parts;
  const spend = createSpend(database);
  const needs = (scope: Scope, route: Route<undefined>): TokenRoute => ({ scope, route });

  return [
    needs(
      'accounts:read',
      publicRoute({
        method: 'GET',
        path: '/accounts/:id',
        handle: async ({ param }) => readAccount(parts, (await accounts.find(param('id'))).id),
      }),
    ),
    needs(
      'accounts:write',
      publicRoute({
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
          return { account: await readAccount(parts, made.account.id), key: made.key };
        },
      }),
    ),
    needs(
      'keys:read',
      publicRoute({
        method: 'GET',
        path: '/accounts/:id/keys',
        query: PAGE_QUERY,
        async handle({ param, query }) {
          const page = readPage(query);
          const { id } = await accounts.find(param('id'));
          const record = await boundKeyRecords(parts, id);
          return listOf(await keys.page(id, page), page, record, ({ id: keyId }) => keyId);
        },
      }),
    ),
    needs(
      'keys:write',
      publicRoute({
        method: 'POST',
        path: '/accounts/:id/keys',
        body: BOUNDS_BODY,
        async handle({ param, body, actor }) {
          const accountId = (await accounts.find(param('id'))).id;
          const made = await createBoundKey(parts, { ...readBounds(body), accountId }, actor);
          const { budget } = await boundKeyRecord(parts, made.row);
          return { ...createdKeyRecord(made, clock()), budget };
        },
      }),
    ),
    needs(
      'keys:write',
      publicRoute({
        method: 'PATCH',
        path: '/keys/:id',
        body: BOUNDS_BODY,
        handle: async ({ param, body, actor }) =>
          boundKeyRecord(parts, await editKey(parts, param('id'), readBounds(body), actor)),
      }),
    ),
    needs(
      'keys:write',
      publicRoute({
        method: 'POST',
        path: '/keys/:id/:action',
        handle: async ({ param, actor }) => {
          const act = KEY_ACTIONS.get(param('action'));
          if (act === undefined) throw new DashboardError('not_found', 'There is no such action.');
          return keyRecord(await act(keys, param('id'), actor), clock());
        },
      }),
    ),
    needs(
      'credits:write',
      publicRoute({
        method: 'POST',
        path: '/accounts/:id/credits',
        body: {
          id: Type.String({ maxLength: 100 }),
          kind: Type.Optional(oneOf(['credit', 'grant'])),
          amount: Type.String({ maxLength: 60 }),
          reason: Type.String({ maxLength: 500 }),
        },
        async handle({ param, body, actor }) {
          const account = await accounts.find(param('id'));
          const { id, kind = 'credit', reason } = body;
          const total = totalOf(kind, body.amount);
          const asked = { ...body, kind, account };
          if (
            (await bookedCredit(database, id)) === undefined &&
            needsApproval(total, dependencies.fourEyesAbove)
          ) {
            // Any operator may approve: a token is no operator, and tokens cannot approve.
            const userId = typeof actor === 'string' ? actor : actor.name;
            const request = { id, kind, accountId: account.id, amount: body.amount, reason };
            const row = await askMovement(
              { userId, change: changeOf(dependencies, actor) },
              request,
            );
            const approval = approvalRecord(row, clock());
            return { id, object: 'credit', status: 'waiting_for_approval', approval };
          }
          await moveMoney(parts, asked, actor);
          const booked = await bookedCredit(database, id);
          if (booked?.reason === reason.trim()) return booked;
          throw new DashboardError('conflict', 'This id was used before, for another reason.');
        },
      }),
    ),
    needs(
      'usage:read',
      publicRoute({
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
      }),
    ),
    needs(
      'prices:read',
      publicRoute({
        method: 'GET',
        path: '/prices',
        handle: () => priceSheet(catalog(), catalog().models, clock()),
      }),
    ),
  ];
}

type Keys = PeopleDependencies['store']['keys'];
type Act = (
  keys: Keys,
  id: string,
  actor: Parameters<Keys['pause']>[2],
) => ReturnType<Keys['find']>;

const KEY_ACTIONS: ReadonlyMap<string, Act> = new Map<string, Act>([
  ['revoke', (keys, id, actor) => keys.revoke(id, 'operator', actor)],
  ['pause', (keys, id, actor) => keys.pause(id, 'operator', actor)],
  ['resume', (keys, id, actor) => keys.resume(id, 'operator', actor)],
]);

/** Whole UTC days; by default the last 30. */
function readSpan(query: { readonly from?: string; readonly until?: string }, nowMs: number) {
  const dayOf = (name: 'from' | 'until', otherwise: number): number => {
    const text = query[name];
    if (text === undefined) return otherwise;
    const time = parseInstant(`${text}T00:00:00Z`);
    if (time !== undefined) return time;
    throw new DashboardError('invalid_request', `${name} is a day such as 2026-11-23.`, {
      param: name,
    });
  };
  const untilMs = dayOf('until', utcDay(nowMs).untilMs);
  const fromMs = dayOf('from', untilMs - 30 * DAY_MS);
  if (fromMs < untilMs && untilMs - fromMs <= USAGE_DAYS_MAX * DAY_MS) return { fromMs, untilMs };
  throw new DashboardError('invalid_request', `Ask for 1 to ${USAGE_DAYS_MAX} days.`, {
    param: 'from',
  });
}
