// Redemption codes in the console: created and shown once, listed without their text, revoked.

import { Type } from '@sinclair/typebox';
import { pageCodes, placeOfCode } from '../../ledger/codes.ts';
import { approvalRecord } from '../../operations/approval-records.ts';
import { askCodes, needsApproval, totalOf } from '../../operations/approvals.ts';
import { CODE_COUNT_MAX, codeRecord, createNewCodes, revokeCode } from '../../operations/codes.ts';
import { type List, sortedList, sortedQuery } from '../edge/page.ts';
import { type OperatorRoutes, stepUpRoute, viewRoute } from '../edge/route.ts';
import { readFuture } from '../period.ts';
import type { ApprovalRecord, CodeRecord, CreatedCodesRecord } from '../records/operator-lists.ts';
import { approverOf } from './approvals.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

export function codeRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { database, clock } = parts;
  return [
    viewRoute({
      path: '/codes',
      query: sortedQuery(['created', 'amount', 'expires']),
      handle: ({ query }): Promise<List<CodeRecord>> =>
        sortedList(
          query,
          '-created',
          (page) => pageCodes(database, page),
          ({ code }) => codeRecord(code, clock()),
          placeOfCode,
          [],
        ),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/codes',
      permission: 'money.move',
      body: {
        amount: Type.String({ maxLength: 60 }),
        reason: Type.String({ maxLength: 1_000 }),
        count: Type.Integer({ minimum: 1, maximum: CODE_COUNT_MAX }),
        expires_at: Type.Optional(Type.String({ maxLength: 40 })),
      },
      async handle({
        body: { amount, reason, count, expires_at: text },
        actor,
        who,
      }): Promise<CreatedCodesRecord | ApprovalRecord> {
        const expiresAt = readFuture(text, clock());
        if (needsApproval(totalOf('credit', amount, count), dependencies.fourEyesAbove)) {
          const asked = { amount, reason, count, expiresAt };
          const row = await askCodes(approverOf(dependencies, who, actor), asked);
          return approvalRecord(row, clock());
        }
        const data = await createNewCodes(parts, { amount, reason, count, expiresAt }, actor);
        return { object: 'list', data };
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/codes/:id/revoke',
      permission: 'money.move',
      handle: async ({ param, actor }): Promise<CodeRecord> =>
        codeRecord(await revokeCode(parts, param('id'), actor), clock()),
    }),
  ];
}
