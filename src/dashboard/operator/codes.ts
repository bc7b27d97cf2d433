// Redemption codes in the console: created and shown once, listed without their text, revoked.

import { Type } from '@sinclair/typebox';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import { pageCodes } from '../../ledger/codes.ts';
import { CODE_COUNT_MAX, codeRecord, createNewCodes, revokeCode } from '../../operations/codes.ts';
import { type List, numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type Route, sessionRoute, stepUpRoute } from '../edge/route.ts';
import type { CodeRecord, CreatedCodesRecord } from '../records/operator-lists.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';
import { readFuture } from './expiry.ts';

export function codeRoutes(dependencies: PeopleDependencies): readonly Route<SignedInOperator>[] {
  const parts = partsOf(dependencies);
  const { database, clock } = parts;
  return [
    sessionRoute({
      method: 'GET',
      path: '/codes',
      query: PAGE_QUERY,
      handle: ({ query }): Promise<List<CodeRecord>> =>
        numberedList(
          query,
          ({ limit, before }) => pageCodes(database, limit, before),
          ({ code }) => codeRecord(code, clock()),
          ({ number }) => number,
        ),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/codes',
      body: {
        amount: Type.String({ maxLength: 60 }),
        reason: Type.String({ maxLength: 1_000 }),
        count: Type.Integer({ minimum: 1, maximum: CODE_COUNT_MAX }),
        expires_at: Type.Optional(Type.String({ maxLength: 40 })),
      },
      async handle({
        body: { amount, reason, count, expires_at: text },
        actor,
      }): Promise<CreatedCodesRecord> {
        const expiresAt = readFuture(text, 'expires_at', clock());
        const made = await createNewCodes(parts, { amount, reason, count, expiresAt }, actor);
        const nowMs = clock();
        return {
          object: 'list',
          data: made.map(({ text: code, code: row }) => ({ ...codeRecord(row, nowMs), code })),
        };
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/codes/:id/revoke',
      handle: async ({ param, actor }): Promise<CodeRecord> =>
        codeRecord(await revokeCode(parts, param('id'), actor), clock()),
    }),
  ];
}
