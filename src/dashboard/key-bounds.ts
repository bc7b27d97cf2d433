// The fields that bound a key, in bodies of both applications, and the records of keys with their
// budgets.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import { parseInstant } from '../core/instant.ts';
import { type ApiKey, keyRecord } from '../identity/key-record.ts';
import type { OperationDependencies } from '../operations/dependencies.ts';
import { type BoundsEdit, keyBudgetRecords } from '../operations/key-bounds.ts';
import { DashboardError } from './edge/error.ts';
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
  return { ...edit, expiresAt: expires_at === null ? null : readTime(expires_at) };
}

function readTime(text: string): number {
  const time = parseInstant(text);
  if (time !== undefined) return time;
  throw new DashboardError(
    'invalid_request',
    'The field expires_at of the body is not a valid time. Include the time zone, such as 2027-01-31T12:00:00Z.',
    { param: 'expires_at' },
  );
}

type Parts = Pick<OperationDependencies, 'database' | 'catalog' | 'clock'>;

/** Reads the budgets of the given keys at once, for their records. */
export async function boundKeyRecords(
  { database, catalog, clock }: Parts,
  keys: readonly ApiKey[],
): Promise<(row: ApiKey) => BoundKeyRecord> {
  const nowMs = clock();
  const budgetOf = await keyBudgetRecords(database, keys, catalog().usdPerMillion, nowMs);
  return (row) => ({ ...keyRecord(row, nowMs), budget: budgetOf(row) });
}

export async function boundKeyRecord(parts: Parts, row: ApiKey): Promise<BoundKeyRecord> {
  return (await boundKeyRecords(parts, [row]))(row);
}
