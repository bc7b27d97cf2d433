// API keys in the console: found by id or by the full key from a ticket, revoked and rotated. The
// full key is sent only in a body and never appears in a response, log or event.

import { Type } from '@sinclair/typebox';
import { keyRecord } from '../../identity/key-record.ts';
import type { SignedInOperator } from '../../identity/signed-in.ts';
import { createdKeyRecord, findKey, rotatedKeyRecord } from '../../operations/keys.ts';
import { oneOf, type Route, sessionRoute, stepUpRoute } from '../edge/route.ts';
import type { CreatedKeyRecord, KeyRecord, RotatedKeyRecord } from '../records/key.ts';
import type { FoundKeyRecord } from '../records/operator-account.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';
import { readFuture } from './expiry.ts';

export function keyRoutes(dependencies: PeopleDependencies): readonly Route<SignedInOperator>[] {
  const parts = partsOf(dependencies);
  const { keys, accounts, clock } = parts;

  return [
    sessionRoute({
      // Not GET: paths and queries appear in logs and browser histories.
      method: 'POST',
      path: '/keys/find',
      body: { key: Type.String({ maxLength: 200 }) },
      handle: async ({ body }): Promise<FoundKeyRecord> => findKey(parts, body.key),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/accounts/:id/keys',
      body: {
        name: Type.Optional(Type.String({ maxLength: 400 })),
        expires_at: Type.Optional(Type.String({ maxLength: 40 })),
      },
      async handle({ param, body, actor }): Promise<CreatedKeyRecord> {
        const accountId = (await accounts.get(param('id'))).id;
        const expiresAt = readFuture(body.expires_at, 'expires_at', clock());
        const made = await keys.create({ accountId, name: body.name, expiresAt }, actor);
        return createdKeyRecord(made, clock());
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/keys/:id/revoke',
      body: {
        reason: oneOf(['operator', 'leak_report', 'user', 'account_closed']),
      },
      handle: async ({ param, body, actor }): Promise<KeyRecord> =>
        keyRecord(await keys.revoke(param('id'), body.reason, actor), clock()),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/keys/:id/rotate',
      handle: async ({ param, actor }): Promise<RotatedKeyRecord> =>
        rotatedKeyRecord(await keys.rotate(param('id'), actor), clock()),
    }),
  ];
}
