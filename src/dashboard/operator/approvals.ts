// Four eyes in the console: what waits for a second operator, and the decision about it.

import { Type } from '@sinclair/typebox';
import type { Actor } from '../../identity/audit.ts';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import { approvalRecord, listApprovals } from '../../operations/approval-records.ts';
import { type Approver, approve, createApprovedCodes, reject } from '../../operations/approvals.ts';
import { type List, numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type OperatorRoutes, stepUpRoute, viewRoute } from '../edge/route.ts';
import type { ApprovalRecord, CreatedCodesRecord } from '../records/operator-lists.ts';
import { changeOf, type PeopleDependencies, partsOf } from './dependencies.ts';

export function approvalRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { database, clock } = parts;
  return [
    viewRoute({
      path: '/approvals',
      query: PAGE_QUERY,
      quiet: true,
      handle: ({ query }): Promise<List<ApprovalRecord>> =>
        numberedList(
          query,
          (page) => listApprovals(database, page),
          ({ approval, ...addresses }) => approvalRecord(approval, clock(), addresses),
          ({ approval }) => approval.number,
        ),
    }),
    stepUpRoute<SignedInOperator>({
      method: 'POST',
      path: '/approvals/:id/approve',
      permission: 'money.move',
      handle: async ({ param, who, actor }): Promise<ApprovalRecord> =>
        approvalRecord(
          await approve(parts, approverOf(dependencies, who, actor), param('id')),
          clock(),
        ),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/approvals/:id/reject',
      permission: 'money.move',
      body: { note: Type.Optional(Type.String({ maxLength: 500 })) },
      handle: async ({ param, who, actor, body }): Promise<ApprovalRecord> =>
        approvalRecord(
          await reject(approverOf(dependencies, who, actor), param('id'), body.note),
          clock(),
        ),
    }),
    stepUpRoute<SignedInOperator>({
      method: 'POST',
      path: '/approvals/:id/codes',
      permission: 'money.move',
      async handle({ param, who, actor }): Promise<CreatedCodesRecord> {
        const approver = approverOf(dependencies, who, actor);
        return { object: 'list', data: await createApprovedCodes(parts, approver, param('id')) };
      },
    }),
  ];
}

export function approverOf(
  dependencies: PeopleDependencies,
  { userId }: SignedInOperator,
  actor: Actor,
): Approver {
  return { userId, change: changeOf(dependencies, actor) };
}
