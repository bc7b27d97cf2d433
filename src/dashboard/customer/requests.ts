// The account's requests: a filtered list with its count, search by id, the history of one, and a
// CSV export. Refused requests are among them. Ids of other accounts are not found. Read-only.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { PLAYGROUND_KEY_ID } from '../../core/id.ts';
import type { UsdRate } from '../../core/money.ts';
import { readNames } from '../../identity/names.ts';
import { archivedWithin } from '../../ledger/archive/anchors.ts';
import { createNewestRequests } from '../../ledger/newest-requests.ts';
import { createRequestList, REQUEST_PREFIX_MIN } from '../../ledger/request-list.ts';
import { watchCut } from '../../operations/archive/cut.ts';
import { countRequests, createRequestLog, type LogEntry } from '../../operations/request-log.ts';
import { explainToCustomer, refusedRecord } from '../../operations/requests.ts';
import { createRefusalList } from '../../refusals/list.ts';
import { invalidRequest } from '../edge/error.ts';
import { logList, PAGE_QUERY, readLogPlace, readPage, wholeList } from '../edge/page.ts';
import { logEntryRecord } from '../edge/problem.ts';
import { REQUEST_QUERY, readRequestFilter } from '../edge/request-query.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import type { ReadTurns } from '../edge/turns.ts';
import type {
  RefusedRequestRecord,
  RequestCountRecord,
  RequestFiltersRecord,
  RequestHistoryRecord,
  RequestListRecord,
  RequestRecord,
} from '../records/customer-request.ts';
import { type OwnDependencies, readRoute } from './account.ts';
import { behind, type createExports } from './exports.ts';
import { CSV_TYPE, csvPages } from './requests-csv.ts';

/** Above it, the count of a list says "or more". */
const COUNT_MAX = 10_000;

export function requestRoutes(
  { store, serviceState, clock }: OwnDependencies,
  exports: ReturnType<typeof createExports>,
  inTurn: ReadTurns,
): CustomerRoutes {
  const { database } = store;
  const lists = {
    requests: createRequestList(database),
    newest: createNewestRequests(database),
    refusals: createRefusalList(database),
  };
  const shown = (entry: LogEntry) => requestRecord(entry, serviceState().catalog.usdPerMillion);

  async function search(accountId: string, prefix: string, limit: number): Promise<LogEntry[]> {
    const [ended, refused] = await Promise.all([
      lists.requests.search(accountId, prefix, limit),
      lists.refusals.search(accountId, prefix, limit),
    ]);
    return [
      ...ended.map((row) => ({ kind: 'ended', row }) as const),
      ...refused.map((row) => ({ kind: 'refused', row }) as const),
    ].slice(0, limit);
  }

  async function keyName(accountId: string, keyId: string | null): Promise<string | null> {
    if (keyId === PLAYGROUND_KEY_ID) return 'Playground';
    return (await readNames(database, [{ accountId, keyId }])).key(keyId)?.name ?? null;
  }

  async function history(accountId: string, id: string): Promise<RequestHistoryRecord> {
    const explanation = await explainToCustomer(store.books, serviceState().catalog, accountId, id);
    const [newer, older] = await lists.requests.neighbours(accountId, id);
    const name = await keyName(accountId, explanation.key_id);
    return { object: 'request', ...explanation, key_name: name, newer, older };
  }

  return [
    readRoute({
      path: '/requests',
      query: {
        ...PAGE_QUERY,
        ...REQUEST_QUERY,
        /** A request id or its prefix; other filters are then ignored. */
        id: Type.Optional(Type.String({ pattern: '^\\s*[A-Za-z0-9_]{1,64}\\s*$' })),
      },
      async handle({ who: { accountId }, query, request }): Promise<RequestListRecord> {
        const page = readPage(query);
        if (query.id !== undefined) {
          return wholeList((await search(accountId, readPrefix(query.id), page.limit)).map(shown));
        }
        const place = readLogPlace(page);
        const read = createRequestLog(lists, accountId);
        const filter = readRequestFilter(query);
        return logList(
          await inTurn(accountId, request, () => read(filter, page.limit, place)),
          shown,
        );
      },
    }),
    readRoute({
      path: '/requests/count',
      query: REQUEST_QUERY,
      async handle({ who: { accountId }, query, request }): Promise<RequestCountRecord> {
        const filter = readRequestFilter(query);
        const { count, isMore } = await inTurn(accountId, request, () =>
          countRequests(lists, accountId, filter, COUNT_MAX),
        );
        return { count, is_more: isMore };
      },
    }),
    readRoute({
      path: '/requests/filters',
      async handle({ who: { accountId } }): Promise<RequestFiltersRecord> {
        const { rows } = await store.keys.listed(accountId);
        return {
          models: serviceState().catalog.models.map(({ slug }) => slug),
          keys: [
            ...rows.map(({ id, name, masked }) => ({ id, name, masked })),
            { id: PLAYGROUND_KEY_ID, name: 'Playground', masked: 'no key' },
          ],
        };
      },
    }),
    readRoute({
      path: '/requests/export',
      query: REQUEST_QUERY,
      handle(call): Promise<Response> {
        const { accountId } = call.who;
        const filter = readRequestFilter(call.query);
        const { fromMs = 0, untilMs = Number.MAX_SAFE_INTEGER } = filter;
        return exports.serve(call, accountId, async () => {
          const { cut, whole } = await watchCut(database, accountId);
          const archived = await archivedWithin(database.db, accountId, { fromMs, untilMs });
          // The rows of archived requests may not be removed yet.
          const listed = { ...filter, afterReceipt: cut };
          const read = createRequestLog(lists, accountId);
          const { usdPerMillion } = serviceState().catalog;
          return {
            pieces: whole(csvPages((limit, after) => read(listed, limit, after), usdPerMillion)),
            type: CSV_TYPE,
            filename: `requests-${isoTime(clock()).slice(0, 10)}${behind(archived)}.csv`,
          };
        });
      },
    }),
    readRoute({
      path: '/requests/:id',
      async handle({ who, param }): Promise<RequestHistoryRecord | RefusedRequestRecord> {
        const { accountId } = who;
        const refused = await lists.refusals.find(param('id'), accountId);
        if (refused === undefined) return history(accountId, param('id'));
        return refusedRecord(refused, await keyName(accountId, refused.keyId));
      },
    }),
  ];
}

function readPrefix(id: string): string {
  const prefix = id.trim();
  if (prefix.length >= REQUEST_PREFIX_MIN) return prefix;
  throw invalidRequest(
    `Enter at least the first ${REQUEST_PREFIX_MIN} characters of the request id (req_…).`,
    'id',
  );
}

function requestRecord(entry: LogEntry, usdPerMillion: UsdRate): RequestRecord {
  const common = { object: 'request', ...logEntryRecord(entry, usdPerMillion) } as const;
  if (entry.kind === 'refused') {
    const { id, model } = entry.row;
    const none = { format: null, stream: null, cached_input_tokens: 0, reasoning_tokens: 0 };
    return { ...common, ...none, id, model, outcome: 'refused' };
  }
  const { row } = entry;
  const { outcome } = row;
  return {
    ...common,
    id: row.requestId,
    format: row.format,
    stream: row.stream,
    model: row.modelRequested,
    outcome: outcome === 'upstream_failed' || outcome === 'gateway_failed' ? 'failed' : outcome,
    cached_input_tokens: row.cachedInputTokens,
    reasoning_tokens: row.reasoningTokens,
  };
}
