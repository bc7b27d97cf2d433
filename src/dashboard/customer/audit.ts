// The account's own audit trail, newest first. Names no operator, and shows network addresses only
// for actions of the account's users.

import { isoTime } from '../../core/calendar.ts';
import { listAuditEvents } from '../../identity/audit.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { type List, numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import type { AuditRecord } from '../records/customer-audit.ts';
import { type OwnDependencies, WHILE_INACTIVE } from './account.ts';
import { auditWords } from './audit-labels.ts';

type AuditEvent = Awaited<ReturnType<typeof listAuditEvents>>[number];

export function auditRoutes({ store }: OwnDependencies): readonly Route<SignedInCustomer>[] {
  return [
    sessionRoute({
      method: 'GET',
      path: '/audit',
      standings: WHILE_INACTIVE,
      query: PAGE_QUERY,
      handle: ({ who: { accountId }, query }): Promise<List<AuditRecord>> =>
        numberedList(
          query,
          ({ limit, before }) => listAuditEvents(store.database, accountId, limit, before),
          auditRecord,
          ({ id }) => id,
        ),
    }),
  ];
}

export function auditRecord(event: AuditEvent): AuditRecord {
  const actor = actorOf(event);
  return {
    id: event.id,
    at: isoTime(event.at),
    words: auditWords(event),
    action: event.action,
    actor,
    address: actor === 'you' ? event.address : null,
    subject: event.subject,
    operation_id: event.operationId,
  };
}

/** Actors other than the account's users and the system are operators. */
function actorOf({ actor, accountId }: AuditEvent): AuditRecord['actor'] {
  if (actor === accountId) return 'you';
  return actor === 'system' || actor === 'visitor' ? actor : 'operator';
}
