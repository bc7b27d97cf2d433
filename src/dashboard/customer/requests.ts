// The account's requests: a filtered list, search by id, the history of one, and a CSV export. Ids
// of other accounts are not found. Read-only.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { PLAYGROUND_KEY_ID } from '../../core/id.ts';
import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import {
  createRequestList,
  type ListedRequest,
  REQUEST_PREFIX_MIN,
} from '../../ledger/request-list.ts';
import { explainToCustomer } from '../../operations/requests.ts';
import { DashboardError } from '../edge/error.ts';
import { PAGE_QUERY, readPage, readRequestPlace, requestList, wholeList } from '../edge/page.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import type {
  RequestFiltersRecord,
  RequestHistoryRecord,
  RequestListRecord,
  RequestRecord,
} from '../records/customer-request.ts';
import { type OwnDependencies, WHILE_INACTIVE } from './account.ts';
import { type createExports, fileResponse } from './exports.ts';
import { REQUEST_QUERY, readRequestFilter } from './request-query.ts';
import { CSV_TYPE, csvPages } from './requests-csv.ts';

export function requestRoutes(
  { store, operator, clock }: OwnDependencies,
  exports: ReturnType<typeof createExports>,
): readonly Route<SignedInCustomer>[] {
  const requests = createRequestList(store.database);
  const shown = (row: ListedRequest) => requestRecord(row, operator().catalog.usdPerMillion);

  return [
    sessionRoute({
      method: 'GET',
      path: '/requests',
      standings: WHILE_INACTIVE,
      query: {
        ...PAGE_QUERY,
        ...REQUEST_QUERY,
        /** A request id or its prefix; other filters are then ignored. */
        id: Type.Optional(Type.String({ pattern: '^\\s*[A-Za-z0-9_]{1,64}\\s*$' })),
      },
      async handle({ who: { accountId }, query }): Promise<RequestListRecord> {
        const page = readPage(query);
        if (query.id !== undefined) {
          const found = await requests.search(accountId, readPrefix(query.id), page.limit);
          return wholeList(found.map(shown));
        }
        const place = readRequestPlace(page);
        const filter = readRequestFilter(query);
        return requestList(await requests.list(accountId, filter, page.limit, place), shown);
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/requests/filters',
      standings: WHILE_INACTIVE,
      async handle({ who: { accountId } }): Promise<RequestFiltersRecord> {
        return {
          models: operator().catalog.models.map(({ slug }) => slug),
          keys: [
            ...(await store.keys.list(accountId)).map(({ id, name, masked }) => ({
              id,
              name,
              masked,
            })),
            { id: PLAYGROUND_KEY_ID, name: 'Playground', masked: 'no key' },
          ],
        };
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/requests/export',
      standings: WHILE_INACTIVE,
      query: REQUEST_QUERY,
      handle({ who: { accountId }, query, request, server }): Response {
        const filter = readRequestFilter(query);
        const onEnd = exports.begin(accountId);
        server?.timeout(request, 0);
        return fileResponse(
          csvPages((limit, after) => requests.list(accountId, filter, limit, after)),
          { type: CSV_TYPE, filename: `requests-${isoTime(clock()).slice(0, 10)}.csv`, onEnd },
        );
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/requests/:id',
      standings: WHILE_INACTIVE,
      handle: async ({ who, param }): Promise<RequestHistoryRecord> =>
        explainToCustomer(store.books, operator().catalog, who.accountId, param('id')),
    }),
  ];
}

function readPrefix(id: string): string {
  const prefix = id.trim();
  if (prefix.length >= REQUEST_PREFIX_MIN) return prefix;
  throw new DashboardError(
    'invalid_request',
    `Enter at least the first ${REQUEST_PREFIX_MIN} characters of the request id (req_…).`,
    { param: 'id' },
  );
}

function requestRecord(row: ListedRequest, usdPerMillion: UsdRate): RequestRecord {
  const { outcome } = row;
  return {
    id: row.requestId,
    object: 'request',
    started_at: isoTime(row.startedAt),
    duration_ms: row.endedAt - row.startedAt,
    key_id: row.keyId,
    format: row.format,
    stream: row.stream,
    model: row.modelRequested,
    model_served: row.modelServed,
    outcome: outcome === 'upstream_failed' || outcome === 'gateway_failed' ? 'failed' : outcome,
    input_tokens: row.inputTokens,
    cached_input_tokens: row.cachedInputTokens,
    output_tokens: row.outputTokens,
    reasoning_tokens: row.reasoningTokens,
    debited: formatTokens(row.debited),
    debited_usd: formatUsd(row.debited, usdPerMillion),
    end_user: row.endUser,
  };
}
