// Tokens of the operators' API: listed, created and revoked by admins. A token is returned once; only
// its digest is stored.

import { Type } from '@sinclair/typebox';
import { SCOPES } from '../../core/operator-scope.ts';
import { createOperatorTokens, operatorTokenRecord } from '../../identity/operator-tokens.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import { type List, wholeList } from '../edge/page.ts';
import { type OperatorRoutes, oneOf, sessionRoute, stepUpRoute } from '../edge/route.ts';
import { readFuture } from '../period.ts';
import type {
  CreatedOperatorTokenRecord,
  OperatorTokenRecord,
} from '../records/operator-people.ts';

type Dependencies = Pick<ConsoleDependencies, 'store' | 'clock' | 'randomBytes'>;

const LIFETIME_MS = 90 * 86_400_000;

export function tokenRoutes({
  store: { database },
  clock,
  randomBytes,
}: Dependencies): OperatorRoutes {
  const tokens = createOperatorTokens({ database, clock, randomBytes });
  return [
    sessionRoute({
      method: 'GET',
      path: '/tokens',
      permission: 'tokens.manage',
      handle: async (): Promise<List<OperatorTokenRecord>> =>
        wholeList((await tokens.list()).map((row) => operatorTokenRecord(row, clock()))),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/tokens',
      permission: 'tokens.manage',
      body: {
        name: Type.String({ maxLength: 400 }),
        scopes: Type.Array(oneOf(SCOPES), { maxItems: SCOPES.length }),
        expires_at: Type.Optional(Type.String({ maxLength: 40 })),
      },
      async handle({ body, actor }): Promise<CreatedOperatorTokenRecord> {
        const { name, scopes, expires_at: text } = body;
        const expiresAt = readFuture(text, clock()) ?? clock() + LIFETIME_MS;
        const { row, token } = await tokens.create({ name, scopes, expiresAt }, actor);
        return { ...operatorTokenRecord(row, clock()), token };
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/tokens/:id/revoke',
      permission: 'tokens.manage',
      handle: async ({ param, actor }): Promise<OperatorTokenRecord> =>
        operatorTokenRecord(await tokens.revoke(param('id'), actor), clock()),
    }),
  ];
}
