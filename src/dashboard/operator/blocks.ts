// The blocklist in the console: accounts, keys and networks, permanently or until a date. Accounts
// are given by id or address, keys by id or full key.

import { Type } from '@sinclair/typebox';
import { type ListedBlock, listBlocks } from '../../identity/block-list.ts';
import { addBlock, blockRecord, removeBlock } from '../../operations/blocks.ts';
import { numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type OperatorRoutes, oneOf, scopedRoute } from '../edge/route.ts';
import { readFuture, UNTIL } from '../period.ts';
import { blockAnswer, blockListAnswer, type ListedBlockRecord } from '../records/operator-lists.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

const KIND = oneOf(['account', 'key', 'network'], 'What is blocked.');

const TARGET = {
  kind: KIND,
  value: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'An id or e-mail address, an id of a key or the key, or a network.',
  }),
};

export function blockRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { database, clock } = parts;
  return [
    scopedRoute({
      method: 'GET',
      path: '/blocks',
      name: 'list_blocks',
      scope: 'blocks:read',
      summary: 'Lists blocks of accounts, keys and networks, newest first.',
      query: { ...PAGE_QUERY, kind: Type.Optional(KIND) },
      answer: blockListAnswer,
      handle: ({ query }) =>
        numberedList(
          query,
          (page) => listBlocks(database, query.kind, { ...page, nowMs: clock() }),
          listedRecord,
          ({ number }) => number,
        ),
    }),
    scopedRoute({
      method: 'POST',
      path: '/blocks',
      name: 'add_block',
      scope: 'blocks:write',
      summary: 'Rejects requests of an account, with a key, or from a network.',
      body: {
        ...TARGET,
        reason: Type.String({ maxLength: 500, description: 'Kept with the block.' }),
        expires_at: UNTIL,
        confirm: Type.Optional(
          Type.String({ maxLength: 300, description: 'The network again, where it is very wide.' }),
        ),
      },
      answer: blockAnswer,
      codes: [
        'invalid_block',
        'already_blocked',
        'account_not_found',
        'key_not_found',
        'confirmation_required',
        'invalid_reason',
        'invalid_expiry',
      ],
      example: { kind: 'network', value: '192.0.2.0/24', reason: 'attack' },
      async handle({ body: { kind, value, reason, expires_at: text, confirm }, actor }) {
        const nowMs = clock();
        const until = readFuture(text, nowMs);
        const forMs = until === undefined ? undefined : until - nowMs;
        return blockRecord(
          await addBlock(parts, { kind, value: value.trim() }, { reason, forMs, confirm }, actor),
        );
      },
    }),
    scopedRoute({
      method: 'POST',
      path: '/blocks/remove',
      name: 'remove_block',
      scope: 'blocks:write',
      summary: 'Removes a block.',
      body: TARGET,
      answer: blockAnswer,
      codes: ['invalid_block', 'block_not_found', 'account_not_found', 'key_not_found'],
      example: { kind: 'network', value: '192.0.2.0/24' },
      handle: async ({ body: { kind, value }, actor }) =>
        blockRecord(await removeBlock(parts, { kind, value: value.trim() }, actor)),
    }),
  ];
}

function listedRecord({ block, accountId, email, masked }: ListedBlock): ListedBlockRecord {
  return {
    ...blockRecord(block),
    account: accountId === null || email === null ? null : { id: accountId, email },
    masked,
  };
}
