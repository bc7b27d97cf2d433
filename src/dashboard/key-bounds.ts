// Keys with their bounds in both applications: the fields of bodies, and the list of an account's keys.

import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox';
import type { OperationDependencies } from '../operations/dependencies.ts';
import { type BoundsEdit, boundKeyRecords } from '../operations/key-bounds.ts';
import type { SortedPage } from '../store/keyset.ts';
import { type List, type PageQuery, sortedList } from './edge/page.ts';
import { readTime } from './period.ts';
import type { BoundKeyRecord } from './records/key.ts';

const orNull = <S extends TSchema>(schema: S, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }));
const texts = (maxItems: number) =>
  Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems });

const amount = Type.Optional(Type.Union([Type.String({ maxLength: 40 }), Type.Null()]));

/**
 * Null removes a bound. An empty list is refused: a program that sends one by mistake would open its
 * key to all. Amounts are service tokens.
 */
export const BOUNDS_BODY = {
  name: orNull(Type.String({ maxLength: 400 }), 'A name for people. Null removes it.'),
  expires_at: orNull(
    Type.String({ maxLength: 40 }),
    'When it expires, with a time zone. Null: never.',
  ),
  models: orNull(
    texts(200),
    'Slugs or aliases of the models that it may use. Null: every model of the plan.',
  ),
  networks: orNull(
    texts(50),
    'Addresses or networks in CIDR notation that may use it. Null: all of them.',
  ),
  budget: orNull(
    Type.Object({ total: amount, day: amount, month: amount }, { additionalProperties: false }),
    'Service tokens that it may spend in total, per UTC day and per UTC month.',
  ),
  runaway_guard: Type.Optional(
    Type.Boolean({
      description: 'Whether it is paused when its spend is far above its habit; by default true.',
    }),
  ),
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
