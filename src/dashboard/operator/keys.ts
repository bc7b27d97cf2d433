// API keys in the console: found by id or by the full key from a ticket, revoked and rotated. The
// full key is sent only in a body and never appears in a response, log or event.

import { Type } from '@sinclair/typebox';
import { keyRecord } from '../../identity/key-record.ts';
import { boundKeyRecord, createBoundKey, editKey } from '../../operations/key-bounds.ts';
import { createdKeyRecord, findKey, rotatedKeyRecord } from '../../operations/keys.ts';
import { type OperatorRoutes, oneOf, sessionRoute, stepUpRoute } from '../edge/route.ts';
import { BOUNDS_BODY, readBounds } from '../key-bounds.ts';
import type {
  BoundKeyRecord,
  CreatedKeyRecord,
  KeyRecord,
  RotatedKeyRecord,
} from '../records/key.ts';
import type { FoundKeyRecord } from '../records/operator-account.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

export function keyRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { keys, accounts, clock } = parts;

  return [
    sessionRoute({
      // Not GET: paths and queries appear in logs and browser histories.
      method: 'POST',
      path: '/keys/find',
      permission: 'view',
      body: { key: Type.String({ maxLength: 200 }) },
      handle: async ({ body }): Promise<FoundKeyRecord> => findKey(parts, body.key),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/accounts/:id/keys',
      permission: 'keys.manage',
      body: BOUNDS_BODY,
      async handle({ param, body, actor }): Promise<CreatedKeyRecord> {
        const accountId = (await accounts.get(param('id'))).id;
        const made = await createBoundKey(parts, { ...readBounds(body), accountId }, actor);
        return createdKeyRecord(made, clock());
      },
    }),
    stepUpRoute({
      method: 'PATCH',
      path: '/keys/:id',
      permission: 'keys.manage',
      body: BOUNDS_BODY,
      handle: async ({ param, body, actor }): Promise<BoundKeyRecord> =>
        boundKeyRecord(parts, await editKey(parts, param('id'), readBounds(body), actor)),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/keys/:id/pause',
      permission: 'keys.manage',
      handle: async ({ param, actor }): Promise<KeyRecord> =>
        keyRecord(await keys.pause(param('id'), 'operator', actor), clock()),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/keys/:id/resume',
      permission: 'keys.manage',
      handle: async ({ param, actor }): Promise<KeyRecord> =>
        keyRecord(await keys.resume(param('id'), 'operator', actor), clock()),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/keys/:id/revoke',
      permission: 'keys.manage',
      body: {
        reason: oneOf(['operator', 'leak_report', 'user', 'account_closed']),
      },
      handle: async ({ param, body, actor }): Promise<KeyRecord> =>
        keyRecord(await keys.revoke(param('id'), body.reason, actor), clock()),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/keys/:id/rotate',
      permission: 'keys.manage',
      handle: async ({ param, actor }): Promise<RotatedKeyRecord> =>
        rotatedKeyRecord(await keys.rotate(param('id'), actor), clock()),
    }),
  ];
}
