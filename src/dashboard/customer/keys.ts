// The customer's API keys: list with spend, create, rename, rotate, revoke. Ids are looked up within the
// signed-in account, so keys of other accounts are not found.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
import { ROTATION_GRACE_MAX_MS } from '../../identity/key-checks.ts';
import type { KeyFilter } from '../../identity/key-list.ts';
import { type ApiKey, keyRecord } from '../../identity/key-record.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { createKeySpend, NO_SPEND } from '../../ledger/key-spend.ts';
import {
  boundKeyRecord,
  boundKeyRecords,
  createBoundKey,
  editKey,
} from '../../operations/key-bounds.ts';
import { createdKeyRecord, rotatedKeyRecord } from '../../operations/keys.ts';
import { DashboardError } from '../edge/error.ts';
import { type List, listOf, PAGE_QUERY, type Page, readPage, wholeList } from '../edge/page.ts';
import { oneOf, type Route, sessionRoute } from '../edge/route.ts';
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
import { connectionOf, type OwnDependencies, WHILE_INACTIVE } from './account.ts';

export function keyRoutes(dependencies: OwnDependencies): readonly Route<SignedInCustomer>[] {
  const { store, operator, clock } = dependencies;
  const { keys, accounts } = store;
  const record = (row: ApiKey): KeyRecord => keyRecord(row, clock());
  const parts = { ...store, ...dependencies, catalog: () => operator().catalog };
  const readSpend = createKeySpend(store.database);

  /** One row more than the page shows, if there are more. */
  async function readRows(
    accountId: string,
    page: Page,
    { filter, sort }: { readonly filter: KeyFilter; readonly sort: KeySort },
    spend: SpendByKey,
  ): Promise<readonly ApiKey[]> {
    const { by, descending } = sort;
    if (by !== 'spent' && by !== 'spent_today') {
      return keys.page(accountId, page, filter, { by, descending });
    }
    const ids = sortBySpend(await keys.matching(accountId, filter), spend, by, descending);
    const start = page.after === undefined ? 0 : ids.indexOf(page.after) + 1;
    if (page.after !== undefined && start === 0) return [];
    return keys.several(accountId, ids.slice(start, start + page.limit + 1));
  }

  return [
    sessionRoute({
      method: 'GET',
      path: '/keys',
      standings: WHILE_INACTIVE,
      query: {
        ...PAGE_QUERY,
        state: Type.Optional(oneOf(['all', 'kept', 'active', 'expiring', 'expired', 'revoked'])),
        /** Part of the name or of the masked key, or the id. */
        q: Type.Optional(Type.String({ maxLength: 100 })),
        /** A field; `-` before it: the largest first. */
        sort: Type.Optional(Type.String({ maxLength: 20 })),
      },
      async handle({ who: { accountId }, query }): Promise<KeyListRecord> {
        const page = readPage(query);
        const filter = { state: query.state ?? 'all', text: query.q?.trim() ?? '' };
        const sort = readSort(query.sort);
        const spend = await readSpend(accountId, clock());
        const rows = await readRows(accountId, page, { filter, sort }, spend);
        const { usdPerMillion } = operator().catalog;
        const bound = await boundKeyRecords(parts, rows);
        return listOf(
          rows,
          page,
          (row) => listedKey(row, bound(row), spend.get(row.id) ?? NO_SPEND, usdPerMillion),
          ({ id }) => id,
        );
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/keys/summary',
      standings: WHILE_INACTIVE,
      async handle({ who: { accountId } }): Promise<KeySummaryRecord> {
        const { made, limit, nextAt } = await keys.creations(accountId);
        const plan = operator().catalog.plans.get((await accounts.get(accountId)).plan);
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
    sessionRoute({
      method: 'GET',
      path: '/connection',
      standings: WHILE_INACTIVE,
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

type KeySort = { readonly by: (typeof SORTS)[number]; readonly descending: boolean };
type SpendByKey = Awaited<ReturnType<ReturnType<typeof createKeySpend>>>;

/** Throws `invalid_request`. */
function readSort(text = '-created'): KeySort {
  const by = SORTS.find((each) => each === text.replace(/^-/, ''));
  if (by !== undefined) return { by, descending: text.startsWith('-') };
  throw new DashboardError('invalid_request', 'The field sort of the query is not valid.', {
    param: 'sort',
  });
}

/** Keys that spent the same stay in their order. */
function sortBySpend(
  ids: readonly string[],
  spend: SpendByKey,
  by: 'spent' | 'spent_today',
  descending: boolean,
): readonly string[] {
  const spentOf = (id: string): bigint => {
    const { today, month } = spend.get(id) ?? NO_SPEND;
    return by === 'spent' ? month : today;
  };
  const sign = descending ? -1 : 1;
  return ids.toSorted((one, other) => {
    const [a, b] = [spentOf(one), spentOf(other)];
    return a === b ? 0 : a < b ? -sign : sign;
  });
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
