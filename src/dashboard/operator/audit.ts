// The audit trail in the console: everything that anybody has changed, with who, when and from where.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { type StoredAuditEvent, searchAuditEvents } from '../../identity/audit-search.ts';
import type { SignedInOperator } from '../../identity/session.ts';
import type { AuditEventRecord } from '../records/operator-lists.ts';
import { type List, listOf, numberAfter, PAGE_QUERY, readPage } from '../rim/page.ts';
import { type Route, sessionRoute } from '../rim/route.ts';
import type { PeopleDependencies } from './parts.ts';

const TEXT = Type.Optional(Type.String({ minLength: 1, maxLength: 300 }));

export function auditRoutes({
  store: { database },
}: PeopleDependencies): readonly Route<SignedInOperator>[] {
  return [
    sessionRoute({
      method: 'GET',
      path: '/audit',
      query: { ...PAGE_QUERY, account: TEXT, actor: TEXT, action: TEXT, subject: TEXT },
      handle({ query }): List<AuditEventRecord> {
        const page = readPage(query);
        const { account: accountId, actor, action, subject } = query;
        const filter = { accountId, actor, action, subject };
        const rows = searchAuditEvents(database, filter, {
          limit: page.limit + 1,
          before: numberAfter(page),
        });
        return listOf(rows, page, eventRecord, ({ id }) => String(id));
      },
    }),
  ];
}

function eventRecord(event: StoredAuditEvent): AuditEventRecord {
  return {
    id: event.id,
    at: isoTime(event.at),
    actor: event.actor,
    address: event.address,
    action: event.action,
    account_id: event.accountId,
    subject: event.subject,
    operation_id: event.operationId,
    detail: JSON.parse(event.detail),
  };
}
