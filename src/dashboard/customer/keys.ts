// The customer's API keys: list, create, rename, rotate, revoke. Ids are looked up within the
// signed-in account, so keys of other accounts are not found.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { parseInstant } from '../../core/instant.ts';
import { type ApiKey, keyRecord } from '../../identity/key-record.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { createdKeyRecord, rotatedKeyRecord } from '../../operations/keys.ts';
import { DashboardError } from '../edge/error.ts';
import { listOf, PAGE_QUERY, readPage } from '../edge/page.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import type {
  CreatedKeyRecord,
  KeyListRecord,
  KeyRecord,
  RotatedKeyRecord,
} from '../records/key.ts';
import { connectionOf, type OwnDependencies, WHILE_INACTIVE } from './account.ts';

export function keyRoutes(dependencies: OwnDependencies): readonly Route<SignedInCustomer>[] {
  const { store, operator, clock } = dependencies;
  const { keys, accounts } = store;
  const record = (row: ApiKey): KeyRecord => keyRecord(row, clock());

  return [
    sessionRoute({
      method: 'GET',
      path: '/keys',
      standings: WHILE_INACTIVE,
      query: PAGE_QUERY,
      async handle({ who: { accountId }, query }): Promise<KeyListRecord> {
        const page = readPage(query);
        const { made, limit, nextAt } = await keys.creations(accountId);
        const plan = operator().catalog.plans.get((await accounts.get(accountId)).plan);
        return {
          ...listOf(await keys.page(accountId, page), page, record, ({ id }) => id),
          active_count: await keys.countActive(accountId),
          active_limit: plan?.maxApiKeys ?? 0,
          creations: {
            last_hour: made,
            limit,
            next_at: nextAt === undefined ? null : isoTime(nextAt),
          },
        };
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/connection',
      standings: WHILE_INACTIVE,
      handle: async ({ who }) => connectionOf(dependencies, await accounts.get(who.accountId)),
    }),
    sessionRoute({
      method: 'POST',
      path: '/keys',
      body: {
        name: Type.Optional(Type.Union([Type.String({ maxLength: 400 }), Type.Null()])),
        expires_at: Type.Optional(Type.Union([Type.String({ maxLength: 40 }), Type.Null()])),
      },
      async handle({ who: { accountId }, body, actor }): Promise<CreatedKeyRecord> {
        const expiresAt = readExpiry(body.expires_at);
        const made = await keys.create({ accountId, name: body.name, expiresAt }, actor);
        return createdKeyRecord(made, clock());
      },
    }),
    sessionRoute({
      method: 'PATCH',
      path: '/keys/:id',
      body: { name: Type.Union([Type.String({ maxLength: 400 }), Type.Null()]) },
      async handle({ who, param, body, actor }): Promise<KeyRecord> {
        const { id } = await keys.findOwn(who.accountId, param('id'));
        return record(await keys.rename(id, body.name, actor));
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/keys/:id/rotate',
      async handle({ who, param, actor }): Promise<RotatedKeyRecord> {
        const { id } = await keys.findOwn(who.accountId, param('id'));
        return rotatedKeyRecord(await keys.rotate(id, actor), clock());
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/keys/:id/revoke',
      standings: WHILE_INACTIVE,
      async handle({ who, param, actor }): Promise<KeyRecord> {
        const { id } = await keys.findOwn(who.accountId, param('id'));
        return record(await keys.revoke(id, 'user', actor));
      },
    }),
  ];
}

function readExpiry(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined) return undefined;
  const expiresAt = parseInstant(text);
  if (expiresAt !== undefined) return expiresAt;
  throw new DashboardError(
    'invalid_request',
    'The field expires_at of the body is not a valid time. Include the time zone, such as 2027-01-31T12:00:00Z.',
    { param: 'expires_at' },
  );
}
