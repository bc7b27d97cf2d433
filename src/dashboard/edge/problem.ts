// Entries of the request log with their problems, as customers and operators read them.

import { failureProblem, type RequestProblem, refusalProblem } from '../../core/advice.ts';
import { isoTime } from '../../core/calendar.ts';
import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
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

/** What the lists of customers and operators show alike. */
export function logEntryRecord(entry: LogEntry, usdPerMillion: UsdRate) {
  const received = {
    /** As the client received it; null if it left before, or if the connection broke. */
    status: statusOf(entry),
    /** Null unless the request failed or was refused. */
    problem: problemOf(entry),
  };
  if (entry.kind === 'refused') {
    const { at, keyId, count } = entry.row;
    return {
      ...received,
      started_at: isoTime(at),
      duration_ms: 0,
      key_id: keyId,
      model_served: null,
      count,
      input_tokens: 0,
      output_tokens: 0,
      debited: '0',
      debited_usd: '0',
      end_user: null,
    };
  }
  const { row } = entry;
  return {
    ...received,
    started_at: isoTime(row.startedAt),
    duration_ms: row.endedAt - row.startedAt,
    /** Null where many kinds of refusal were counted together; so is the model. */
    key_id: row.keyId,
    /** Null without an answer; differs from the requested model after a fallback. */
    model_served: row.modelServed,
    /** Above 1 for equal refused requests of one minute. */
    count: 1,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    /** In service tokens. */
    debited: formatTokens(row.debited),
    debited_usd: formatUsd(row.debited, usdPerMillion),
    end_user: row.endUser,
  };
}
