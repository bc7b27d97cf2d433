// The record of a refused request, for the command line and both applications.

import { refusalProblem } from '../core/advice.ts';
import { isoTime } from '../core/calendar.ts';
import type { RefusedRequest } from '../refusals/list.ts';

/** Without names, which only pages show. */
export function refusalFacts(row: RefusedRequest) {
  return {
    object: 'refused_request',
    request_id: row.id,
    account_id: row.accountId,
    started_at: isoTime(row.at),
    last_at: isoTime(row.lastAt),
    count: row.count,
    key_id: row.keyId,
    model: row.model,
    route: row.route,
    problem: refusalProblem(row.code, row.message),
  } as const;
}

/** A refused request, or several equal ones of one minute, as its own page shows it. */
export function refusedRecord(row: RefusedRequest, keyName: string | null) {
  const { account_id: _, ...facts } = refusalFacts(row);
  return { ...facts, key_name: keyName } as const;
}
