// The problem of an entry of the request log, and a refused request, as customers and operators read
// them.

import { failureProblem, type RequestProblem, refusalProblem } from '../../core/advice.ts';
import { isoTime } from '../../core/calendar.ts';
import type { LogEntry } from '../../operations/request-log.ts';
import type { RefusedRequest } from '../../refusals/list.ts';

/** Null for a request that did not fail. */
export function problemOf(entry: LogEntry): RequestProblem | null {
  if (entry.kind === 'refused') return refusalProblem(entry.row.code, entry.row.message);
  const { failure } = entry.row;
  return failure === null ? null : failureProblem(failure);
}

/** The status that the client received; null where it is unknown. */
export function statusOf(entry: LogEntry): number | null {
  const problem = problemOf(entry);
  if (problem !== null) return problem.status;
  const isAnswered =
    entry.kind === 'ended' &&
    (entry.row.outcome === 'completed' || entry.row.outcome === 'stopped_balance');
  return isAnswered ? 200 : null;
}

/** A refused request, or several equal ones of one minute, as its own page shows it. */
export function refusedRecord(row: RefusedRequest, keyName: string | null) {
  return {
    object: 'refused_request',
    request_id: row.id,
    started_at: isoTime(row.at),
    last_at: isoTime(row.lastAt),
    count: row.count,
    key_id: row.keyId,
    key_name: keyName,
    model: row.model,
    route: row.route,
    problem: refusalProblem(row.code, row.message),
  } as const;
}
