// Keys with their bounds in both applications and in the operators' API: the fields of bodies, and the
// list of an account's keys.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { OperationDependencies } from '../operations/dependencies.ts';
import { type BoundsEdit, boundKeyRecords } from '../operations/key-bounds.ts';
import type { SortedPage } from '../store/keyset.ts';
import { type List, type PageQuery, sortedList } from './edge/page.ts';
import { readTime } from './period.ts';
import type { BoundKeyRecord } from './records/key.ts';

const amount = Type.Optional(Type.Union([Type.String({ maxLength: 40 }), Type.Null()]));
const texts = (maxItems: number) =>
  Type.Optional(
    Type.Union([
      Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems }),
      Type.Null(),
    ]),
  );

/**
 * Null removes a bound. An empty list is refused: a program that sends one by mistake would open its
 * key to all. Amounts are service tokens.
 */
export const BOUNDS_BODY = {
  name: Type.Optional(Type.Union([Type.String({ maxLength: 400 }), Type.Null()])),
  expires_at: Type.Optional(Type.Union([Type.String({ maxLength: 40 }), Type.Null()])),
  models: texts(200),
  networks: texts(50),
  budget: Type.Optional(
    Type.Union([
      Type.Object({ total: amount, day: amount, month: amount }, { additionalProperties: false }),
      Type.Null(),
    ]),
  ),
  /** Whether the runaway guard may pause it. */
  runaway_guard: Type.Optional(Type.Boolean()),
};

type BoundsBody = Static<TObject<typeof BOUNDS_BODY>>;

/** Throws `invalid_request` for a text that is no time. */
export function readBounds({ expires_at, runaway_guard, ...body }: BoundsBody): BoundsEdit {
  const edit = { ...body, isGuarded: runaway_guard };
  if (expires_at === undefined) return edit;
  const expiresAt = expires_at === null ? null : readTime(expires_at, 'expires_at', 'body');
  return { ...edit, expiresAt };
}

/** The keys of an account, newest first. */
export function listKeys(
  parts: Pick<OperationDependencies, 'keys' | 'database' | 'catalog' | 'clock'>,
  accountId: string,
  query: PageQuery,
): Promise<List<BoundKeyRecord>> {
  return sortedList(
    query,
    '-created',
    async (page: SortedPage<'created'>) => {
      const placed = await parts.keys.page(accountId, page);
      const record = await boundKeyRecords(
        parts,
        placed.map(({ row }) => row),
      );
      return placed.map(({ row, place }) => ({ record: record(row), place }));
    },
    ({ record }) => record,
    ({ place }) => place,
    [],
  );
}
