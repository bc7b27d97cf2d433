// Credits in the operators' API: booked once by the caller's id. Above the amount of four eyes one
// becomes an approval, which the owner of the token has asked for and another operator decides.

import { Type } from '@sinclair/typebox';
import type { TokenCaller } from '../../identity/operator-tokens.ts';
import { approvalRecord } from '../../operations/approval-records.ts';
import { askMovement, isAsked, needsApproval, totalOf } from '../../operations/approvals.ts';
import { bookedCredit } from '../../operations/booked-credit.ts';
import { moveMoney } from '../../operations/movements.ts';
import { DashboardError } from '../edge/error.ts';
import { oneOf } from '../edge/route.ts';
import { changeOf, type PeopleDependencies, partsOf } from '../operator/dependencies.ts';
import { needs, type TokenRoute } from './route.ts';

export function creditRoute(dependencies: PeopleDependencies): TokenRoute {
  const parts = partsOf(dependencies);
  const { accounts, database, clock } = parts;
  return needs('credits:write', 'create_credit', {
    method: 'POST',
    path: '/accounts/:id/credits',
    body: {
      id: Type.String({ maxLength: 100 }),
      kind: Type.Optional(oneOf(['credit', 'grant'])),
      amount: Type.String({ maxLength: 60 }),
      reason: Type.String({ maxLength: 500 }),
    },
    async handle({ who, param, body, actor }) {
      const account = await accounts.find(param('id'));
      const { id, kind = 'credit', amount, reason } = body;
      const isLarge = needsApproval(totalOf(kind, amount), dependencies.fourEyesAbove);
      const isBooked = (await bookedCredit(database, id)) !== undefined;
      // A smaller amount under the id of a request that waits is another body, not a credit.
      if (!isBooked && (isLarge || (await isAsked(database, id)))) {
        const approver = { userId: askerOf(who), change: changeOf(dependencies, actor) };
        const asked = { id, kind, accountId: account.id, amount, reason };
        const approval = approvalRecord(await askMovement(approver, asked), clock());
        const { state } = approval;
        const isOpen = state === 'pending' || state === 'approved';
        return { id, object: 'credit', status: isOpen ? 'waiting_for_approval' : state, approval };
      }
      await moveMoney(parts, { ...body, kind, account }, actor);
      const booked = await bookedCredit(database, id);
      if (booked?.reason === reason.trim()) return booked;
      throw new DashboardError('conflict', 'This id was used before, for another reason.');
    },
  });
}

/** Without an owner, the person who holds the token could approve the request. */
function askerOf({ owner }: TokenCaller): string {
  if (owner !== undefined) return owner.userId;
  throw new DashboardError(
    'token_without_owner',
    'A credit above FOUR_EYES_ABOVE needs a token that acts for an operator, and this one acts for none. Create one in the console, or with --for.',
  );
}
