// The account's own audit trail, newest first. Names no operator, and shows network addresses only
// for actions of the account's users.

import { isoTime } from '../../core/calendar.ts';
import { type StoredAuditEvent, searchAuditEvents } from '../../identity/audit-search.ts';
import { type List, numberedList, PAGE_QUERY } from '../edge/page.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import type { AuditRecord } from '../records/customer-audit.ts';
import { type OwnDependencies, readRoute } from './account.ts';

export function auditRoutes({ store }: OwnDependencies): CustomerRoutes {
  return [
    readRoute({
      path: '/audit',
      query: PAGE_QUERY,
      handle: ({ who: { accountId }, query }): Promise<List<AuditRecord>> =>
        numberedList(
          query,
          (page) => searchAuditEvents(store.database, { accountId }, page),
          auditRecord,
          ({ id }) => id,
        ),
    }),
  ];
}

export function auditRecord(event: StoredAuditEvent): AuditRecord {
  const actor = actorOf(event);
  return {
    id: event.id,
    at: isoTime(event.at),
    action: event.action,
    detail: detailOf(event),
    actor,
    address: actor === 'you' ? event.address : null,
    subject: event.subject,
    operation_id: event.operationId,
  };
}

/** Members of an event's detail for its customer: operators record reasons for themselves. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  'account.plan_changed': ['from', 'to'],
  'account.standing_changed': ['to'],
  'api_key.created': ['masked', 'rotated_from'],
  'api_key.renamed': ['masked', 'to'],
  'api_key.bounds_changed': ['masked'],
  'api_key.budget_set': ['from', 'to'],
  'api_key.paused': ['masked', 'reason', 'spent'],
  'api_key.pause_mailed': ['masked'],
  'api_key.resumed': ['masked'],
  'api_key.replaced': ['masked', 'works_until'],
  'api_key.revoked': ['masked', 'reason'],
  'code.redeemed': ['amount'],
  'money.credited': ['amount'],
  'money.granted': ['amount'],
  'money.adjusted': ['amount'],
  'user.signed_in': ['with'],
  'user.sessions_ended': ['ended'],
};

function detailOf({ action, detail }: StoredAuditEvent): AuditRecord['detail'] {
  const shown = SHOWN[action] ?? [];
  const all = JSON.parse(detail) as AuditRecord['detail'];
  return Object.fromEntries(Object.entries(all).filter(([name]) => shown.includes(name)));
}

/** Actors other than the account's users and the system are operators. */
function actorOf({ actor, accountId }: StoredAuditEvent): AuditRecord['actor'] {
  if (actor === accountId) return 'you';
  return actor === 'system' || actor === 'visitor' ? actor : 'operator';
}
