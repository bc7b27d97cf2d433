// Credits by the id of a billing system, or by the reference of a top-up: booked once. Above the
// amount of four eyes one becomes an approval, which the operator or the owner of the token has asked
// for and another operator decides.

import { Type } from '@sinclair/typebox';
import type { OperatorCaller } from '../../identity/signed-in.ts';
import { approvalRecord } from '../../operations/approval-records.ts';
import { askMovement, isAsked, needsApproval, totalOf } from '../../operations/approvals.ts';
import { bookedCredit } from '../../operations/booked-credit.ts';
import { OperationError } from '../../operations/error.ts';
import { type MovementRequest, moveMoney } from '../../operations/movements.ts';
import { DashboardError } from '../edge/error.ts';
import { type OperatorRoutes, oneOf, type RouteCall, scopedRoute } from '../edge/route.ts';
import { creditAnswer } from '../records/operator-account.ts';
import { OVER } from '../records/operator-lists.ts';
import { approverOf } from './approvals.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

export function creditRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { accounts, database, clock } = parts;

  /** Books it, or asks for its approval. A repeat gets the first answer. */
  async function book(
    credit: MovementRequest & { readonly id: string; readonly kind: 'credit' | 'grant' },
    { who, actor }: Pick<RouteCall<OperatorCaller>, 'who' | 'actor'>,
  ) {
    const { id, kind, account, amount, reason } = credit;
    const isLarge = needsApproval(totalOf(kind, amount), dependencies.fourEyesAbove);
    const isBooked = (await bookedCredit(database, id)) !== undefined;
    // A smaller amount under the id of a request that waits is another body, not a credit.
    if (!isBooked && (isLarge || (await isAsked(database, id)))) {
      const ask = { id, kind, accountId: account.id, amount, reason };
      const row = await askMovement(approverOf(dependencies, who, actor), ask);
      const approval = approvalRecord(row, clock());
      const status = OVER.find((end) => end === approval.state) ?? 'waiting_for_approval';
      return { id, object: 'credit', status, approval } as const;
    }
    await moveMoney(parts, credit, actor);
    const booked = await bookedCredit(database, id);
    if (booked?.reason === reason.trim()) return booked;
    throw new DashboardError('conflict', 'This id was used before, for another reason.');
  }

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
        ...AMOUNT,
      },
      answer: creditAnswer,
      codes: ['invalid_credit_id', ...CODES],
      example: { id: 'invoice-7', amount: '1000', reason: 'invoice 7' },
      async handle(call) {
        const account = await accounts.find(call.param('id'));
        return book({ kind: 'credit', ...call.body, account }, call);
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/top-ups',
      name: 'create_top_up',
      scope: 'credits:write',
      summary:
        'Credits what a customer has paid in your checkout, once by the reference that it got. A repeat gets the first answer, also after the reference has expired. Otherwise as a credit.',
      body: {
        reference: Type.String({
          maxLength: 200,
          description: 'The `reference` with which a customer came to `top_up_url`.',
        }),
        ...AMOUNT,
      },
      answer: creditAnswer,
      codes: ['invalid_reference', 'reference_expired', ...CODES],
      example: { reference: 'top-up.acct_…', amount: '5000000', reason: 'payment 1207' },
      async handle(call) {
        const { reference, ...body } = call.body;
        const { creditId: id, accountId, isExpired } = dependencies.topUps.read(reference);
        if (isExpired && !(await bookedCredit(database, id)) && !(await isAsked(database, id))) {
          throw new OperationError(
            'reference_expired',
            'This reference has expired. Credit the account with an id of your own.',
          );
        }
        const account = await accounts.find(accountId);
        return book({ ...body, id, kind: 'credit', account }, call);
      },
    }),
  ];
}

const AMOUNT = {
  amount: Type.String({
    maxLength: 60,
    description: 'Service tokens, with at most 6 decimals.',
  }),
  reason: Type.String({
    maxLength: 500,
    description: 'Kept in the books and on the receipt, 1 to 500 characters.',
  }),
};

const CODES = [
  'invalid_amount',
  'invalid_reason',
  'conflict',
  'ledger_refused',
  'approval_conflict',
  'too_many_approvals',
  'token_without_owner',
];
