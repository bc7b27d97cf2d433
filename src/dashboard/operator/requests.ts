// Requests in the console: the log of all accounts with its feed, those of one account, and the
// history of one as in `tollgate explain`. Refused requests are among them.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { UsdRate } from '../../core/money.ts';
import { type NamesOfIds, readNames } from '../../identity/names.ts';
import { createNewestRequests } from '../../ledger/newest-requests.ts';
import { createRequestList } from '../../ledger/request-list.ts';
import { createRequestLog, type LogEntry, type LogPage } from '../../operations/request-log.ts';
import { explainRequest, refusedRecord } from '../../operations/requests.ts';
import { createRefusalList, NO_ACCOUNT, type RefusedRequest } from '../../refusals/list.ts';
import { createFeeds } from '../edge/feed.ts';
import { type List, logList, PAGE_QUERY, readLogPlace, readPage } from '../edge/page.ts';
import { logEntryRecord } from '../edge/problem.ts';
import { REQUEST_QUERY, readRequestFilter } from '../edge/request-query.ts';
import { type OperatorRoutes, scopedRoute, viewRoute } from '../edge/route.ts';
import {
  type LoggedRequestRecord,
  type NewestRequestRecord,
  type OperatorRefusalRecord,
  type OperatorRequestRecord,
  requestListAnswer,
} from '../records/operator-request.ts';
import type { PeopleDependencies } from './dependencies.ts';

const QUERY = {
  ...REQUEST_QUERY,
  account: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 254,
      description: 'The id or address of an account; `none`: refused requests without one.',
    }),
  ),
  upstream: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The id of an upstream.' }),
  ),
};

export function requestRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const { store, catalog } = dependencies;
  const { database } = store;
  const lists = {
    requests: createRequestList(database),
    newest: createNewestRequests(database),
    refusals: createRefusalList(database),
  };
  const feeds = createFeeds(dependencies);

  async function shown(page: LogPage): Promise<List<LoggedRequestRecord>> {
    const names = await readNames(
      database,
      page.entries.map(({ row }) => row),
    );
    return logList(page, (entry) => loggedRecord(entry, names, catalog().usdPerMillion));
  }

  /** The newest request and the newest refusal: when one changes, pages read their list again. */
  async function readNewest() {
    const [last, refused] = await Promise.all([lists.newest.last(), lists.refusals.list({}, 1)]);
    const data: NewestRequestRecord = { last_request: last, last_refused: refused[0]?.at ?? 0 };
    return { data, changes: JSON.stringify(data) };
  }

  return [
    scopedRoute({
      method: 'GET',
      path: '/requests',
      name: 'list_requests',
      scope: 'requests:read',
      summary: 'Lists requests of all accounts that match all filters, newest first.',
      query: { ...PAGE_QUERY, ...QUERY },
      answer: requestListAnswer,
      async handle({ query }) {
        const page = readPage(query);
        const read = createRequestLog(lists, await accountOf(query));
        return shown(
          await read(
            { ...readRequestFilter(query), upstream: query.upstream },
            page.limit,
            readLogPlace(page),
          ),
        );
      },
    }),
    viewRoute({
      path: '/requests/feed',
      quiet: true,
      // The feed limit is per operator; the data is the same for all.
      handle: (call) => feeds.open(call, { key: call.who.userId, start: () => readNewest }),
    }),
    scopedRoute({
      method: 'GET',
      path: '/accounts/:id/requests',
      name: 'list_account_requests',
      scope: 'requests:read',
      summary: 'Lists the requests of an account, newest first.',
      query: PAGE_QUERY,
      answer: requestListAnswer,
      async handle({ param, query }) {
        const page = readPage(query);
        const { id } = await store.accounts.find(param('id'));
        return shown(await createRequestLog(lists, id)({}, page.limit, readLogPlace(page)));
      },
    }),
    viewRoute({
      path: '/requests/:id',
      async handle({ param }): Promise<OperatorRequestRecord | OperatorRefusalRecord> {
        const refused = await lists.refusals.find(param('id'));
        if (refused !== undefined) {
          return refusalRecord(refused, await readNames(database, [refused]));
        }
        const explanation = await explainRequest(store, catalog(), param('id'));
        const { account_id: accountId, key_id: keyId } = explanation;
        const names = await readNames(database, [{ accountId, keyId }]);
        return {
          object: 'request',
          ...explanation,
          account_email: names.email(accountId),
          key_name: keyName(names, keyId),
        };
      },
    }),
  ];

  /** The requests of a key are those of its account, which are read faster. */
  async function accountOf({ account, key }: Static<TObject<typeof QUERY>>) {
    if (account === 'none') return NO_ACCOUNT;
    if (account !== undefined) {
      // Neither: no account has such an id, so that nothing is listed.
      return (await store.accounts.find(account).catch(() => undefined))?.id ?? account;
    }
    if (key === undefined) return undefined;
    return (await store.keys.find(key).catch(() => undefined))?.accountId;
  }
}

function keyName(names: NamesOfIds, keyId: string | null): string | null {
  const key = names.key(keyId);
  return key === undefined ? null : (key.name ?? key.masked);
}

function loggedRecord(
  entry: LogEntry,
  names: NamesOfIds,
  usdPerMillion: UsdRate,
): LoggedRequestRecord {
  const { accountId, keyId } = entry.row;
  const common = {
    ...logEntryRecord(entry, usdPerMillion),
    account_id: accountId,
    account_email: names.email(accountId),
    key_name: keyName(names, keyId),
  };
  if (entry.kind === 'refused') {
    const { id, model } = entry.row;
    const none = { upstream: null, cause: null };
    return { ...common, ...none, request_id: id, model_requested: model, outcome: 'refused' };
  }
  const { requestId, modelRequested, upstream, outcome, failure } = entry.row;
  const ended = { request_id: requestId, model_requested: modelRequested };
  return { ...common, ...ended, upstream, outcome, cause: failure };
}

function refusalRecord(row: RefusedRequest, names: NamesOfIds): OperatorRefusalRecord {
  return {
    ...refusedRecord(row, keyName(names, row.keyId)),
    account_id: row.accountId,
    account_email: names.email(row.accountId),
  };
}
