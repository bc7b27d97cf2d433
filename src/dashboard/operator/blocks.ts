// The blocklist in the console: accounts, keys and networks, permanently or until a date. Accounts
// are given by id or address, keys by id or full key.

import { Type } from '@sinclair/typebox';
import { type ListedBlock, listBlocks } from '../../identity/block-list.ts';
import { addBlock, blockRecord, removeBlock } from '../../operations/blocks.ts';
import { type List, numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type OperatorRoutes, oneOf, stepUpRoute, viewRoute } from '../edge/route.ts';
import { readFuture } from '../period.ts';
import type { BlockRecord, ListedBlockRecord } from '../records/operator-lists.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

const KIND = oneOf(['account', 'key', 'network']);

const TARGET = { kind: KIND, value: Type.String({ minLength: 1, maxLength: 300 }) };

export function blockRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const parts = partsOf(dependencies);
  const { database, clock } = parts;
  return [
    viewRoute({
      path: '/blocks',
      query: { ...PAGE_QUERY, kind: Type.Optional(KIND) },
      handle: ({ query }): Promise<List<ListedBlockRecord>> =>
        numberedList(
          query,
          (page) => listBlocks(database, query.kind, { ...page, nowMs: clock() }),
          listedRecord,
          ({ number }) => number,
        ),
    }),
    stepUpRoute({
      method: 'POST',
      path: '/blocks',
      permission: 'blocks.manage',
      body: {
        ...TARGET,
        reason: Type.String({ maxLength: 500 }),
        expires_at: Type.Optional(Type.String({ maxLength: 40 })),
        /** The network again, where it is very wide. */
        confirm: Type.Optional(Type.String({ maxLength: 300 })),
      },
      async handle({
        body: { kind, value, reason, expires_at: text, confirm },
        actor,
      }): Promise<BlockRecord> {
        const nowMs = clock();
        const until = readFuture(text, nowMs);
        const forMs = until === undefined ? undefined : until - nowMs;
        return blockRecord(
          await addBlock(parts, { kind, value: value.trim() }, { reason, forMs, confirm }, actor),
        );
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/blocks/remove',
      permission: 'blocks.manage',
      body: TARGET,
      handle: async ({ body: { kind, value }, actor }): Promise<BlockRecord> =>
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
