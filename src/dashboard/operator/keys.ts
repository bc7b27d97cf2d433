// API keys in the console: found by id or by the full key from a ticket, listed, created, changed,
// paused, revoked and rotated. The full key is sent only in a body and never appears in a response,
// log or event.

import { Type } from '@sinclair/typebox';
import type { Actor } from '../../identity/audit.ts';
import type { ApiKey } from '../../identity/key-record.ts';
import { boundKeyRecord, createBoundKey, editKey } from '../../operations/key-bounds.ts';
import { findKey, rotatedKeyRecord } from '../../operations/keys.ts';
import { PAGE_QUERY } from '../edge/page.ts';
import { type OperatorRoutes, oneOf, scopedRoute } from '../edge/route.ts';
import { BOUNDS_BODY, listKeys, readBounds } from '../key-bounds.ts';
import { createdKeyAnswer, keyAnswer, keyListAnswer, rotatedKeyAnswer } from '../records/key.ts';
import { foundKeyAnswer } from '../records/operator-account.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

const BOUNDS_CODES = ['invalid_key_name', 'invalid_expiry', 'invalid_models', 'invalid_networks'];

/** A key is revoked as one that the operator revokes unless another reason is given. */
const REASON = Type.Optional(
  oneOf(
    ['operator', 'leak_report', 'user', 'account_closed'],
    'Kept with the key. Default: `operator`.',
  ),
);

export function keyRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { keys, accounts, clock } = parts;

  const switched = (
    verb: 'pause' | 'resume',
    summary: string,
    act: (id: string, by: 'operator', actor: Actor) => Promise<ApiKey>,
  ) =>
    scopedRoute({
      method: 'POST',
      path: `/keys/:id/${verb}`,
      name: `${verb}_key`,
      scope: 'keys:write',
      summary,
      answer: keyAnswer,
      codes: ['key_not_active'],
      handle: async ({ param, actor }) =>
        boundKeyRecord(parts, await act(param('id'), 'operator', actor)),
    });

  return [
    scopedRoute({
      // Not GET: paths and queries appear in logs and browser histories.
      method: 'POST',
      path: '/keys/find',
      access: 'session',
      name: 'find_key',
      scope: 'keys:read',
      summary: 'Finds a key by its id or by the whole key, with its account.',
      body: { key: Type.String({ maxLength: 200, description: 'The id of a key, or the key.' }) },
      answer: foundKeyAnswer,
      codes: ['key_not_found'],
      example: { key: 'key_…' },
      handle: ({ body }) => findKey(parts, body.key),
    }),
    scopedRoute({
      method: 'GET',
      path: '/accounts/:id/keys',
      name: 'list_keys',
      scope: 'keys:read',
      summary: 'Lists all keys of an account with their bounds, newest first.',
      query: PAGE_QUERY,
      answer: keyListAnswer,
      async handle({ param, query }) {
        const { id } = await accounts.find(param('id'));
        return listKeys(parts, id, query);
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/accounts/:id/keys',
      name: 'create_key',
      scope: 'keys:write',
      summary: 'Creates a key, which is in no other answer.',
      body: BOUNDS_BODY,
      answer: createdKeyAnswer,
      codes: [
        'unknown_plan',
        'key_limit_reached',
        'key_creation_limit_reached',
        ...BOUNDS_CODES,
        'invalid_budget',
      ],
      example: { name: 'ci', budget: { month: '5000000' } },
      async handle({ param, body, actor }) {
        const accountId = (await accounts.find(param('id'))).id;
        const { row, key } = await createBoundKey(parts, { ...readBounds(body), accountId }, actor);
        return { ...(await boundKeyRecord(parts, row)), key };
      },
    }),
    scopedRoute({
      method: 'PATCH',
      path: '/keys/:id',
      name: 'edit_key',
      scope: 'keys:write',
      summary: 'Changes the fields of the body. Null removes a bound; others stay as they are.',
      body: BOUNDS_BODY,
      answer: keyAnswer,
      codes: ['key_not_active', ...BOUNDS_CODES, 'invalid_budget'],
      example: { budget: { day: '100000' }, networks: null },
      handle: async ({ param, body, actor }) =>
        boundKeyRecord(parts, await editKey(parts, param('id'), readBounds(body), actor)),
    }),
    switched(
      'pause',
      'Rejects requests with this key until it is resumed here or in the console.',
      (...call) => keys.pause(...call),
    ),
    switched('resume', 'Accepts requests with this key again.', (...call) => keys.resume(...call)),
    scopedRoute({
      method: 'POST',
      path: '/keys/:id/revoke',
      name: 'revoke_key',
      scope: 'keys:write',
      summary: 'Ends this key at once and for good.',
      body: { reason: REASON },
      answer: keyAnswer,
      example: { reason: 'leak_report' },
      handle: async ({ param, body: { reason = 'operator' }, actor }) =>
        boundKeyRecord(parts, await keys.revoke(param('id'), reason, actor)),
    }),
    scopedRoute({
      method: 'POST',
      path: '/keys/:id/rotate',
      name: 'rotate_key',
      scope: 'keys:write',
      summary: 'Replaces a key at once by a new one, which is in no other answer.',
      answer: rotatedKeyAnswer,
      codes: ['key_not_active', 'key_limit_reached', 'key_creation_limit_reached'],
      handle: async ({ param, actor }) =>
        rotatedKeyRecord(await keys.rotate(param('id'), actor), clock()),
    }),
  ];
}
