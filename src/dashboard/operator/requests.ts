// Requests in the console: those of an account, and the history of one as in `tollgate explain`.

import { isoTime } from '../../core/calendar.ts';
import { formatTokens } from '../../core/money.ts';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import { createRequestList, type ListedRequest } from '../../ledger/request-list.ts';
import { explainRequest } from '../../operations/requests.ts';
import { type List, PAGE_QUERY, readPage, readRequestPlace, requestList } from '../edge/page.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import type { AccountRequestRecord, OperatorRequestRecord } from '../records/operator-account.ts';
import type { PeopleDependencies } from './dependencies.ts';

export function requestRoutes({
  store,
  catalog,
}: PeopleDependencies): readonly Route<SignedInOperator>[] {
  const requests = createRequestList(store.database);
  return [
    sessionRoute({
      method: 'GET',
      path: '/accounts/:id/requests',
      query: PAGE_QUERY,
      async handle({ param, query }): Promise<List<AccountRequestRecord>> {
        const page = readPage(query);
        const { id } = await store.accounts.get(param('id'));
        const found = await requests.list(id, {}, page.limit, readRequestPlace(page));
        return requestList(found, requestRecord);
      },
    }),
    sessionRoute({
      method: 'GET',
      path: '/requests/:id',
      handle: async ({ param }): Promise<OperatorRequestRecord> =>
        explainRequest(store.books, catalog(), param('id')),
    }),
  ];
}

function requestRecord(request: ListedRequest): AccountRequestRecord {
  return {
    request_id: request.requestId,
    started_at: isoTime(request.startedAt),
    duration_ms: request.endedAt - request.startedAt,
    model_requested: request.modelRequested,
    model_served: request.modelServed,
    outcome: request.outcome,
    input_tokens: request.inputTokens,
    output_tokens: request.outputTokens,
    debited: formatTokens(request.debited),
  };
}
