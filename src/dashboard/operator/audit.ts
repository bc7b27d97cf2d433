// The audit trail in the console: all changes with actor, time and origin.

import { Type } from '@sinclair/typebox';
import { auditEventRecord, readTrail } from '../../operations/audit.ts';
import { type List, numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type OperatorRoutes, viewRoute } from '../edge/route.ts';
import type { AuditEventRecord } from '../records/operator-lists.ts';
import type { PeopleDependencies } from './dependencies.ts';

const TEXT = Type.Optional(Type.String({ minLength: 1, maxLength: 300 }));

export function auditRoutes({ store }: PeopleDependencies): OperatorRoutes {
  return [
    viewRoute({
      path: '/audit',
      query: { ...PAGE_QUERY, account: TEXT, actor: TEXT, action: TEXT, subject: TEXT },
      handle({ query }): Promise<List<AuditEventRecord>> {
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
