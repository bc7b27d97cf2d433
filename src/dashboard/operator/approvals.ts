// Changes of a balance in the console, what waits for a second operator, and the decision about it.

import { Type } from '@sinclair/typebox';
import { formatTokens } from '../../core/money.ts';
import type { Actor } from '../../identity/audit.ts';
import type { OperatorCaller, SignedInOperator } from '../../identity/signed-in.ts';
import { listMovements } from '../../ledger/receipt-list.ts';
import { readAccount } from '../../operations/account-records.ts';
import { approvalRecord, listApprovals } from '../../operations/approval-records.ts';
import {
  type Approver,
  approve,
  askMovement,
  createApprovedCodes,
  needsApproval,
  reject,
  totalOf,
} from '../../operations/approvals.ts';
import { movedRecord, moveMoney, movementRecord } from '../../operations/movements.ts';
import { DashboardError } from '../edge/error.ts';
import { numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type OperatorRoutes, oneOf, scopedRoute, stepUpRoute, viewRoute } from '../edge/route.ts';
import { type MovedRecord, movementListAnswer } from '../records/operator-account.ts';
import type {
  ApprovalListRecord,
  ApprovalRecord,
  CreatedCodesRecord,
} from '../records/operator-lists.ts';
import { changeOf, type PeopleDependencies, partsOf } from './dependencies.ts';

export function approvalRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { fourEyesAbove } = dependencies;
  const { database, clock } = parts;
  return [
    viewRoute({
      path: '/approvals',
      query: PAGE_QUERY,
      quiet: true,
      handle: async ({ query }): Promise<ApprovalListRecord> => ({
        ...(await numberedList(
          query,
          (page) => listApprovals(database, page),
          ({ approval, ...addresses }) => approvalRecord(approval, clock(), addresses),
          ({ approval }) => approval.number,
        )),
        above: fourEyesAbove === undefined ? null : formatTokens(fourEyesAbove),
      }),
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

/** Throws `token_without_owner`: the person who holds such a token could approve the request. */
export function approverOf(
  dependencies: PeopleDependencies,
  who: OperatorCaller,
  actor: Actor,
): Approver {
  const operator = who.realm === 'token' ? who.owner : who;
  if (operator !== undefined) {
    return { userId: operator.userId, change: changeOf(dependencies, actor) };
  }
  throw new DashboardError(
    'token_without_owner',
    'A credit above FOUR_EYES_ABOVE needs a token that acts for an operator, and this one acts for none. Create one in the console, or with --for.',
  );
}

/**
 * The page creates a movement's id when its dialog opens, so a double click books once; the response
 * says whether it was booked now.
 */
export function movementRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  return [
    scopedRoute({
      method: 'GET',
      path: '/accounts/:id/movements',
      name: 'list_movements',
      scope: 'money:read',
      summary: 'Lists credits, grants, corrections and redeemed codes of an account, newest first.',
      query: PAGE_QUERY,
      answer: movementListAnswer,
      async handle({ param, query }) {
        const { id } = await parts.accounts.find(param('id'));
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
