// Balance changes by operators, and their list. The page creates the movement's id when its dialog
// opens, so a double click books once; the response says whether it was booked now.

import { Type } from '@sinclair/typebox';
import { listMovements } from '../../ledger/receipt-list.ts';
import { readAccount } from '../../operations/account-records.ts';
import { approvalRecord } from '../../operations/approval-records.ts';
import { askMovement, needsApproval, totalOf } from '../../operations/approvals.ts';
import { movedRecord, moveMoney, movementRecord } from '../../operations/movements.ts';
import { type List, numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type OperatorRoutes, oneOf, stepUpRoute, viewRoute } from '../edge/route.ts';
import type { MovedRecord, MovementRecord } from '../records/operator-account.ts';
import type { ApprovalRecord } from '../records/operator-lists.ts';
import { approverOf } from './approvals.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

export function movementRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  return [
    viewRoute({
      path: '/accounts/:id/movements',
      query: PAGE_QUERY,
      async handle({ param, query }): Promise<List<MovementRecord>> {
        const { id } = await parts.accounts.get(param('id'));
        return numberedList(
          query,
          (page) => listMovements(parts.database.db, id, page),
          movementRecord,
          ({ sequence }) => sequence,
        );
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/accounts/:id/movements',
      permission: 'money.move',
      body: {
        id: Type.String({ maxLength: 200 }),
        kind: oneOf(['credit', 'grant', 'adjustment']),
        amount: Type.String({ maxLength: 60 }),
        reason: Type.String({ maxLength: 1_000 }),
      },
      async handle({ param, body, actor, who }): Promise<MovedRecord | ApprovalRecord> {
        const account = await parts.accounts.get(param('id'));
        if (needsApproval(totalOf(body.kind, body.amount), dependencies.fourEyesAbove)) {
          const asked = { ...body, accountId: account.id };
          const row = await askMovement(approverOf(dependencies, who, actor), asked);
          return approvalRecord(row, parts.clock());
        }
        const moved = await moveMoney(parts, { ...body, account }, actor);
        return { ...movedRecord(moved), account: await readAccount(parts, account.id) };
      },
    }),
  ];
}
