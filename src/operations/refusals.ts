// Records of refused requests, for the command line and both applications.

import { refusalProblem } from '../core/advice.ts';
import { isoTime } from '../core/calendar.ts';
import { createRefusalList, type RefusedRequest } from '../refusals/list.ts';
import type { Database } from '../store/contract.ts';

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

/** Those of commands, which show ids in place of names: one by its id, or the newest. */
export async function refusalRecords(
  { db }: Pick<Database, 'db'>,
  which:
    | { readonly id: string }
    | { readonly accountId: string | undefined; readonly limit: number },
) {
  const list = createRefusalList({ db });
  const found = 'id' in which ? [await list.find(which.id)] : await list.list(which, which.limit);
  return found
    .filter((row) => row !== undefined)
    .map((row) => ({ ...refusedRecord(row, null), account_id: row.accountId }));
}
