// The list of all requests: those of the books and those that were refused, in one order, newest
// first. Of one account, or of all of them for the operator. Read-only.

import type { ErrorCode } from '../core/error.ts';
import { failuresWith } from '../core/request-failure.ts';
import type { NewestRequests } from '../ledger/newest-requests.ts';
import type { Received, RequestEnding } from '../ledger/request-kinds.ts';
import type {
  Counted,
  ListedRequest,
  RequestFilter,
  RequestList,
  RequestPage,
} from '../ledger/request-list.ts';
import type { RequestPlace } from '../ledger/request-pieces.ts';
import type { RefusalFilter, RefusalList, RefusalPlace, RefusedRequest } from '../refusals/list.ts';

export type LogFilter = Omit<RequestFilter, 'outcome' | 'received'> & {
  /** `ended`: all of the books, with any outcome. */
  readonly outcome?: RequestEnding | 'ended' | 'refused' | undefined;
  /** A class such as `4xx`, or one status, as the client received it. */
  readonly status?: string | undefined;
  readonly code?: ErrorCode | undefined;
};

/** Where both lists continue; absent: from the newest. */
export type LogPlace = {
  readonly ended: RequestPlace | undefined;
  readonly refused: RefusalPlace | undefined;
};

export type LogEntry =
  | { readonly kind: 'ended'; readonly row: ListedRequest }
  | { readonly kind: 'refused'; readonly row: RefusedRequest };

export type LogPage = {
  readonly entries: readonly LogEntry[];
  /** Absent at the end. A page may be short, or empty, and still have a next one. */
  readonly next: LogPlace | undefined;
};

export type ReadLog = (filter: LogFilter, limit: number, after?: LogPlace) => Promise<LogPage>;

const NOTHING: RequestPage = { rows: [], next: undefined };
const EVERYWHERE: LogPlace = { ended: undefined, refused: undefined };

/** `accountId` absent: the newest of all accounts. */
export function createRequestLog(
  lists: { requests: RequestList; newest: NewestRequests; refusals: RefusalList },
  accountId?: string,
): ReadLog {
  return async (filter, limit, after = EVERYWHERE) => {
    const kind = requestFilter(filter);
    const refusalKind = refusalFilter(filter, accountId);
    const [ended, refused] = await Promise.all([
      kind === undefined
        ? NOTHING
        : accountId === undefined
          ? lists.newest.list(kind, limit, after.ended)
          : lists.requests.list(accountId, kind, limit, after.ended),
      refusalKind === undefined ? [] : lists.refusals.list(refusalKind, limit + 1, after.refused),
    ]);
    return merge(ended, refused, limit, after);
  };
}

/** Counts up to `most` of one account. */
export async function countRequests(
  { requests, refusals }: { requests: RequestList; refusals: RefusalList },
  accountId: string,
  filter: LogFilter,
  most: number,
): Promise<Counted> {
  const kind = requestFilter(filter);
  const refusalKind = refusalFilter(filter, accountId);
  const [ended, refused] = await Promise.all([
    kind === undefined ? { count: 0, isMore: false } : requests.count(accountId, kind, most),
    refusalKind === undefined ? 0 : refusals.rows(refusalKind, most + 1),
  ]);
  const sum = ended.count + refused;
  return { count: Math.min(sum, most), isMore: ended.isMore || sum > most };
}

function merge(
  { rows, next }: RequestPage,
  refused: readonly RefusedRequest[],
  limit: number,
  after: LogPlace,
): LogPage {
  const isNewer = (refusal: RefusedRequest, row: ListedRequest | undefined): boolean => {
    // Behind the last row that was read, older requests than the refusal may come first.
    if (row === undefined) return next === undefined || refusal.at >= next.startedAt;
    return refusal.at >= row.startedAt;
  };
  const entries: LogEntry[] = [];
  let served = 0;
  let turnedAway = 0;
  while (entries.length < limit) {
    const row = rows[served];
    const refusal = refused[turnedAway];
    if (refusal !== undefined && isNewer(refusal, row)) {
      entries.push({ kind: 'refused', row: refusal });
      turnedAway += 1;
    } else if (row !== undefined) {
      entries.push({ kind: 'ended', row });
      served += 1;
    } else break;
  }
  const isOver = served === rows.length && next === undefined && turnedAway === refused.length;
  if (isOver) return { entries, next: undefined };
  const lastRow = rows[served - 1];
  const lastRefused = refused[turnedAway - 1];
  return {
    entries,
    next: {
      ended: served === rows.length && next !== undefined ? next : (lastRow ?? after.ended),
      refused: lastRefused ?? after.refused,
    },
  };
}

/** Undefined where no ended request can match. */
function requestFilter(filter: LogFilter): RequestFilter | undefined {
  const { outcome, status, code, ...rest } = filter;
  if (outcome === 'refused') return undefined;
  const received = status === undefined && code === undefined ? undefined : receivedOf(filter);
  if (received !== undefined && !received.answers && received.failures.length === 0)
    return undefined;
  return { ...rest, outcome: outcome === 'ended' ? undefined : outcome, received };
}

function receivedOf({ status, code }: LogFilter): Received {
  const range = status === undefined ? undefined : statusRange(status);
  const isMeant = (found: number | null) =>
    range === undefined || (found !== null && found >= range[0] && found <= range[1]);
  const failures = failuresWith(
    (received) => isMeant(received.status) && (code === undefined || received.code === code),
  );
  return { answers: code === undefined && isMeant(200), failures };
}

/** Undefined where no refused request can match: they reach no model and name no end user. */
function refusalFilter(
  filter: LogFilter,
  accountId: string | undefined,
): RefusalFilter | undefined {
  const { outcome, endUser, upstream, served, requested, status, afterReceipt, ...rest } = filter;
  if (outcome !== undefined && outcome !== 'refused') return undefined;
  if ([endUser, upstream, served, requested].some((wanted) => wanted !== undefined)) {
    return undefined;
  }
  const statuses = status === undefined ? undefined : statusRange(status);
  return { ...rest, accountId, statuses };
}

/** `status` is three digits, or one and `xx`. */
function statusRange(status: string): readonly [number, number] {
  return [Number(status.replace('xx', '00')), Number(status.replace('xx', '99'))];
}
