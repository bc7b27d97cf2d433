// Reads the audit trail for operators, on the command line and in the console.

import { isoTime } from '../core/calendar.ts';
import {
  type AuditFilter,
  type StoredAuditEvent,
  searchAuditEvents,
} from '../identity/audit-search.ts';
import type { OperationDependencies } from './dependencies.ts';

/** As the operator enters it: an account is named by its id or its e-mail address. */
type TrailFilter = Omit<AuditFilter, 'accountId'> & {
  readonly account?: string | undefined;
};

/**
 * At most `limit` events, newest first, only those before a given event. Throws
 * `account_not_found`.
 */
export async function readTrail(
  { accounts, database }: Pick<OperationDependencies, 'accounts' | 'database'>,
  { account, ...filter }: TrailFilter,
  page: { readonly limit: number; readonly before: number | undefined },
): Promise<readonly StoredAuditEvent[]> {
  // An id also matches a deleted account, whose events are kept.
  const accountId = account?.includes('@') ? (await accounts.find(account)).id : account;
  return searchAuditEvents(database, { ...filter, accountId }, page);
}

export function auditEventRecord(event: StoredAuditEvent) {
  const detail: unknown = JSON.parse(event.detail);
  return {
    id: event.id,
    at: isoTime(event.at),
    actor: event.actor,
    address: event.address,
    action: event.action,
    account_id: event.accountId,
    subject: event.subject,
    operation_id: event.operationId,
    detail: detail as Readonly<Record<string, string | number | boolean | null>>,
  } as const;
}
