// The customer's API keys: list with spend, create, rename, rotate, revoke. Ids are looked up within the
// signed-in account, so keys of other accounts are not found.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
import { ROTATION_GRACE_MAX_MS } from '../../identity/key-checks.ts';
import type { KeyFilter, PlacedKey } from '../../identity/key-list.ts';
import { type ApiKey, keyRecord } from '../../identity/key-record.ts';
import { createKeySpend, NO_SPEND } from '../../ledger/key-spend.ts';
import {
  boundKeyRecord,
  boundKeyRecords,
  createBoundKey,
  editKey,
} from '../../operations/key-bounds.ts';
import { createdKeyRecord, rotatedKeyRecord } from '../../operations/keys.ts';
import type { SortedPage, SortPlace } from '../../store/keyset.ts';
import { type List, sortedList, sortedQuery, wholeList } from '../edge/page.ts';
import { type CustomerRoutes, oneOf, sessionRoute } from '../edge/route.ts';
import type { ReadTurns } from '../edge/turns.ts';
import { BOUNDS_BODY, readBounds } from '../key-bounds.ts';
import type {
  BoundKeyRecord,
  CreatedKeyRecord,
  KeyListRecord,
  KeyRecord,
  KeySummaryRecord,
  ListedKeyRecord,
  RotatedKeyRecord,
} from '../records/key.ts';
import { connectionOf, type OwnDependencies, readRoute, WHILE_INACTIVE } from './account.ts';

export function keyRoutes(dependencies: OwnDependencies, inTurn: ReadTurns): CustomerRoutes {
  const { store, serviceState, clock } = dependencies;
  const { keys, accounts } = store;
  const record = (row: ApiKey): KeyRecord => keyRecord(row, clock());
  const parts = { ...store, ...dependencies, catalog: () => serviceState().catalog };
  const readSpend = createKeySpend(store.database);

  async function readKeys(
    accountId: string,
    { limit, order: { field, descending }, after }: SortedPage<KeySort>,
    filter: KeyFilter,
    spend: SpendByKey,
  ): Promise<readonly PlacedKey[]> {
    if (field !== 'spent' && field !== 'spent_today') {
      return keys.page(accountId, { limit, order: { field, descending }, after }, filter);
    }
    const compare = compareSpend(descending);
    const placed = (await keys.matching(accountId, filter))
      .map(({ id, number }) => {
        const { today, month } = spend.get(id) ?? NO_SPEND;
        return { id, value: field === 'spent' ? month : today, tie: number };
      })
      .filter((each) => after === undefined || compare(each, after) > 0)
      .sort(compare)
      .slice(0, limit);
    const places = new Map(placed.map(({ id, ...place }) => [id, place]));
    const rows = await keys.several(accountId, [...places.keys()]);
    return rows.flatMap((row) => {
      const place = places.get(row.id);
      return place === undefined ? [] : [{ row, place }];
    });
  }

  return [
    readRoute({
      path: '/keys',
      query: {
        ...sortedQuery(SORTS),
        state: Type.Optional(oneOf(['all', 'kept', 'active', 'expiring', 'expired', 'revoked'])),
        /** Part of the name or of the masked key, or the id. */
        q: Type.Optional(Type.String({ maxLength: 100 })),
      },
      async handle({ who: { accountId }, query, request }): Promise<KeyListRecord> {
        const filter = { state: query.state ?? 'all', text: query.q?.trim() ?? '' };
        const { usdPerMillion } = serviceState().catalog;
        return sortedList(
          query,
          '-created',
          async (page: SortedPage<KeySort>) => {
            const { spend, placed } = await inTurn(accountId, request, async () => {
              const spend = await readSpend(accountId, clock());
              return { spend, placed: await readKeys(accountId, page, filter, spend) };
            });
            const rows = placed.map(({ row }) => row);
            const bound = await boundKeyRecords(parts, rows);
            return placed.map(({ row, place }) => {
              const spent = spend.get(row.id) ?? NO_SPEND;
              return { place, record: listedKey(row, bound(row), spent, usdPerMillion) };
            });
          },
          ({ record: shown }) => shown,
          ({ place }) => place,
          ['name'],
        );
      },
    }),
    readRoute({
      path: '/keys/summary',
      async handle({ who: { accountId } }): Promise<KeySummaryRecord> {
        const { made, limit, nextAt } = await keys.creations(accountId);
        const plan = serviceState().catalog.plans.get((await accounts.get(accountId)).plan);
        return {
          counts: await keys.countStates(accountId),
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
    readRoute({
      path: '/connection',
      handle: async ({ who }) => connectionOf(dependencies, await accounts.get(who.accountId)),
    }),
    sessionRoute({
      method: 'POST',
      path: '/keys',
      body: BOUNDS_BODY,
      async handle({ who: { accountId }, body, actor }): Promise<CreatedKeyRecord> {
        const made = await createBoundKey(parts, { ...readBounds(body), accountId }, actor);
        return createdKeyRecord(made, clock());
      },
    }),
    sessionRoute({
      method: 'PATCH',
      path: '/keys/:id',
      body: BOUNDS_BODY,
      async handle({ who, param, body, actor }): Promise<BoundKeyRecord> {
        const { id } = await keys.findOwn(who.accountId, param('id'));
        return boundKeyRecord(parts, await editKey(parts, id, readBounds(body), actor));
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/keys/:id/pause',
      standings: WHILE_INACTIVE,
      async handle({ who, param, actor }): Promise<KeyRecord> {
        const { id } = await keys.findOwn(who.accountId, param('id'));
        return record(await keys.pause(id, 'user', actor));
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/keys/:id/resume',
      async handle({ who, param, actor }): Promise<KeyRecord> {
        const { id } = await keys.findOwn(who.accountId, param('id'));
        return record(await keys.resume(id, 'owner', actor));
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/keys/:id/rotate',
      body: {
        /** How long the old key goes on working; 0 or absent: it is revoked at once. */
        grace_seconds: Type.Optional(
          Type.Integer({ minimum: 0, maximum: ROTATION_GRACE_MAX_MS / 1_000 }),
        ),
      },
      async handle({ who, param, body, actor }): Promise<RotatedKeyRecord> {
        const { id } = await keys.findOwn(who.accountId, param('id'));
        const graceMs = (body.grace_seconds ?? 0) * 1_000;
        return rotatedKeyRecord(await keys.rotate(id, actor, graceMs), clock());
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
    sessionRoute({
      method: 'POST',
      path: '/keys/revoke',
      standings: WHILE_INACTIVE,
      body: {
        ids: Type.Array(Type.String({ maxLength: 60 }), {
          minItems: 1,
          maxItems: REVOKED_AT_ONCE_MAX,
          uniqueItems: true,
        }),
      },
      async handle({ who: { accountId }, body, actor }): Promise<List<KeyRecord>> {
        return wholeList((await keys.revokeOwn(accountId, body.ids, actor)).map(record));
      },
    }),
  ];
}

/** As many as a page lists. */
const REVOKED_AT_ONCE_MAX = 200;

const SORTS = ['created', 'name', 'last_used', 'expires', 'spent', 'spent_today'] as const;

type KeySort = (typeof SORTS)[number];
type SpendByKey = Awaited<ReturnType<ReturnType<typeof createKeySpend>>>;

/** Of keys that spent the same, the newest is first in both directions. */
function compareSpend(descending: boolean) {
  const sign = descending ? -1 : 1;
  return (one: SortPlace, other: SortPlace): number => {
    if (one.value !== other.value) return one.value < other.value ? -sign : sign;
    return other.tie - one.tie;
  };
}

function listedKey(
  { lastUsedAddress }: ApiKey,
  record: BoundKeyRecord,
  { today, month }: typeof NO_SPEND,
  usdPerMillion: UsdRate,
): ListedKeyRecord {
  return {
    ...record,
    last_used_address: lastUsedAddress,
    spent_today: formatTokens(today),
    spent_today_usd: formatUsd(today, usdPerMillion),
    spent: formatTokens(month),
    spent_usd: formatUsd(month, usdPerMillion),
  };
}
