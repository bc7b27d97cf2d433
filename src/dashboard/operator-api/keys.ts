// Keys in the operators' API: lists, creates, changes, pauses, resumes and revokes them.

import type { Actor } from '../../identity/audit.ts';
import type { ApiKey } from '../../identity/key-record.ts';
import { boundKeyRecord, createBoundKey, editKey } from '../../operations/key-bounds.ts';
import { createdKeyRecord } from '../../operations/keys.ts';
import { PAGE_QUERY } from '../edge/page.ts';
import { BOUNDS_BODY, listKeys, readBounds } from '../key-bounds.ts';
import { type PeopleDependencies, partsOf } from '../operator/dependencies.ts';
import { needs, type OperationName, type TokenRoute } from './route.ts';

export function keyRoutes(dependencies: PeopleDependencies): readonly TokenRoute[] {
  const parts = partsOf(dependencies);
  const { accounts, keys, clock } = parts;

  const action = (
    name: OperationName,
    verb: 'pause' | 'resume' | 'revoke',
    act: (id: string, by: 'operator', actor: Actor) => Promise<ApiKey>,
  ): TokenRoute =>
    needs('keys:write', name, {
      method: 'POST',
      path: `/keys/:id/${verb}`,
      handle: async ({ param, actor }) =>
        boundKeyRecord(parts, await act(param('id'), 'operator', actor)),
    });

  return [
    needs('keys:read', 'list_keys', {
      method: 'GET',
      path: '/accounts/:id/keys',
      query: PAGE_QUERY,
      async handle({ param, query }) {
        const { id } = await accounts.find(param('id'));
        return listKeys(parts, id, query);
      },
    }),
    needs('keys:write', 'create_key', {
      method: 'POST',
      path: '/accounts/:id/keys',
      body: BOUNDS_BODY,
      async handle({ param, body, actor }) {
        const accountId = (await accounts.find(param('id'))).id;
        const made = await createBoundKey(parts, { ...readBounds(body), accountId }, actor);
        const { budget } = await boundKeyRecord(parts, made.row);
        return { ...createdKeyRecord(made, clock()), budget };
      },
    }),
    needs('keys:write', 'edit_key', {
      method: 'PATCH',
      path: '/keys/:id',
      body: BOUNDS_BODY,
      handle: async ({ param, body, actor }) =>
        boundKeyRecord(parts, await editKey(parts, param('id'), readBounds(body), actor)),
    }),
    action('pause_key', 'pause', (...call) => keys.pause(...call)),
    action('resume_key', 'resume', (...call) => keys.resume(...call)),
    action('revoke_key', 'revoke', (...call) => keys.revoke(...call)),
  ];
}
