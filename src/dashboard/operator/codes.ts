// Redemption codes in the console: created and shown once, listed without their text, revoked.

import { Type } from '@sinclair/typebox';
import { pageCodes, placeOfCode } from '../../ledger/codes.ts';
import { approvalRecord } from '../../operations/approval-records.ts';
import { askCodes, needsApproval, totalOf } from '../../operations/approvals.ts';
import { CODE_COUNT_MAX, codeRecord, createNewCodes, revokeCode } from '../../operations/codes.ts';
import { sortedList, sortedQuery } from '../edge/page.ts';
import { type OperatorRoutes, scopedRoute } from '../edge/route.ts';
import { readFuture, UNTIL } from '../period.ts';
import { codeAnswer, codeListAnswer, codesAnswer } from '../records/operator-lists.ts';
import { approverOf } from './approvals.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

export function codeRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { database, clock } = parts;
  return [
    scopedRoute({
      method: 'GET',
      path: '/codes',
      name: 'list_codes',
      scope: 'codes:read',
      summary: 'Lists redemption codes without their text.',
      query: sortedQuery(['created', 'amount', 'expires']),
      answer: codeListAnswer,
      handle: ({ query }) =>
        sortedList(
          query,
          '-created',
          (page) => pageCodes(database, page),
          ({ code }) => codeRecord(code, clock()),
          placeOfCode,
          [],
        ),
    }),
    scopedRoute({
      method: 'POST',
      path: '/codes',
      name: 'create_codes',
      scope: 'codes:write',
      summary:
        'Creates redemption codes, whose texts are in no other answer. Above `FOUR_EYES_ABOVE` in total it waits for another operator, and the codes are created in the console.',
      body: {
        amount: Type.String({ maxLength: 60, description: 'Service tokens of each code.' }),
        reason: Type.String({ maxLength: 1_000, description: 'Kept with the codes.' }),
        count: Type.Integer({
          minimum: 1,
          maximum: CODE_COUNT_MAX,
          description: 'How many codes to create.',
        }),
        expires_at: UNTIL,
      },
      answer: codesAnswer,
      codes: [
        'invalid_amount',
        'invalid_reason',
        'invalid_expiry',
        'too_many_approvals',
        'token_without_owner',
      ],
      example: { amount: '1000', reason: 'workshop', count: 10 },
      async handle({ body: { amount, reason, count, expires_at: text }, actor, who }) {
        const expiresAt = readFuture(text, clock());
        if (needsApproval(totalOf('credit', amount, count), dependencies.fourEyesAbove)) {
          const asked = { amount, reason, count, expiresAt };
          const row = await askCodes(approverOf(dependencies, who, actor), asked);
          return approvalRecord(row, clock());
        }
        const data = await createNewCodes(parts, { amount, reason, count, expiresAt }, actor);
        return { object: 'list' as const, data };
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/codes/:id/revoke',
      name: 'revoke_code',
      scope: 'codes:write',
      summary: 'Revokes a code that was not redeemed.',
      answer: codeAnswer,
      codes: ['code_used', 'code_expired', 'code_revoked'],
      handle: async ({ param, actor }) =>
        codeRecord(await revokeCode(parts, param('id'), actor), clock()),
    }),
  ];
}
