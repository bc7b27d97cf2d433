// The audit trail in the console: all changes with actor, time and origin.

import { Type } from '@sinclair/typebox';
import { auditEventRecord, readTrail } from '../../operations/audit.ts';
import { numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type OperatorRoutes, scopedRoute } from '../edge/route.ts';
import { auditListAnswer } from '../records/operator-lists.ts';
import type { PeopleDependencies } from './dependencies.ts';

const exactly = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 300, description }));

export function auditRoutes({ store }: PeopleDependencies): OperatorRoutes {
  return [
    scopedRoute({
      method: 'GET',
      path: '/audit',
      name: 'list_audit_events',
      scope: 'audit:read',
      summary: 'Lists the audit trail, newest first.',
      query: {
        ...PAGE_QUERY,
        account: exactly('The id of an account.'),
        actor: exactly('Who acted, such as `operator:ada@example.com`.'),
        action: exactly('What was done, such as `account.created`.'),
        subject: exactly('The id of the changed object.'),
      },
      answer: auditListAnswer,
      handle({ query }) {
        const { account, actor, action, subject } = query;
        const filter = { account, actor, action, subject };
        return numberedList(
          query,
          (page) => readTrail(store, filter, page),
          auditEventRecord,
          ({ id }) => id,
        );
      },
    }),
  ];
}
