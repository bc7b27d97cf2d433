// Credits by the id of a billing system: booked once. Above the amount of four eyes one becomes an
// approval, which the operator or the owner of the token has asked for and another operator decides.

import { Type } from '@sinclair/typebox';
import { approvalRecord } from '../../operations/approval-records.ts';
import { askMovement, isAsked, needsApproval, totalOf } from '../../operations/approvals.ts';
import { bookedCredit } from '../../operations/booked-credit.ts';
import { moveMoney } from '../../operations/movements.ts';
import { DashboardError } from '../edge/error.ts';
import { type OperatorRoutes, oneOf, scopedRoute } from '../edge/route.ts';
import { creditAnswer } from '../records/operator-account.ts';
import { OVER } from '../records/operator-lists.ts';
import { approverOf } from './approvals.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

export function creditRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { accounts, database, clock } = parts;
  return [
    scopedRoute({
      method: 'POST',
      path: '/accounts/:id/credits',
      name: 'create_credit',
      scope: 'credits:write',
      summary:
        'Books a credit once by its id. A repeat gets the first answer. Above `FOUR_EYES_ABOVE` it waits for another operator than the one for whom the token acts.',
      body: {
        id: Type.String({
          maxLength: 100,
          description: 'Your own id of this credit, such as the number of an invoice.',
        }),
        kind: Type.Optional(
          oneOf(['credit', 'grant'], '`credit` is paid, `grant` is a gift. Default: `credit`.'),
        ),
        amount: Type.String({
          maxLength: 60,
          description: 'Service tokens, with at most 6 decimals.',
        }),
        reason: Type.String({
          maxLength: 500,
          description: 'Kept in the books and on the receipt, 1 to 500 characters.',
        }),
      },
      answer: creditAnswer,
      codes: [
        'invalid_credit_id',
        'invalid_amount',
        'invalid_reason',
        'conflict',
        'ledger_refused',
        'approval_conflict',
        'too_many_approvals',
        'token_without_owner',
      ],
      example: { id: 'invoice-7', amount: '1000', reason: 'invoice 7' },
      async handle({ who, param, body, actor }) {
        const account = await accounts.find(param('id'));
        const { id, kind = 'credit', amount, reason } = body;
        const isLarge = needsApproval(totalOf(kind, amount), dependencies.fourEyesAbove);
        const isBooked = (await bookedCredit(database, id)) !== undefined;
        // A smaller amount under the id of a request that waits is another body, not a credit.
        if (!isBooked && (isLarge || (await isAsked(database, id)))) {
          const asked = { id, kind, accountId: account.id, amount, reason };
          const row = await askMovement(approverOf(dependencies, who, actor), asked);
          const approval = approvalRecord(row, clock());
          const status = OVER.find((end) => end === approval.state) ?? 'waiting_for_approval';
          return { id, object: 'credit', status, approval } as const;
        }
        await moveMoney(parts, { ...body, kind, account }, actor);
        const booked = await bookedCredit(database, id);
        if (booked?.reason === reason.trim()) return booked;
        throw new DashboardError('conflict', 'This id was used before, for another reason.');
      },
    }),
  ];
}
