// The problem of an entry of the request log, as customers and operators read it.

import { failureProblem, type RequestProblem, refusalProblem } from '../../core/advice.ts';
import type { LogEntry } from '../../operations/request-log.ts';

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
