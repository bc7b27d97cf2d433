// What the columns of every table are made of, so that the meaning of one (an instant, a count, an
// amount) is named where it is defined. The connection reads integers as bigint; these turn the
// ones that are not money back into numbers.

import { sql } from 'drizzle-orm';
import { customType } from 'drizzle-orm/sqlite-core';
import type { ClientFormatName } from '../core/admit.ts';
import type { Outcome, Usage, UsageDoubt } from '../core/generation.ts';
import { requestIdBytes, requestIdOf } from '../core/id.ts';
import { type Micro, micro, type Pico, pico, type UsdRate, usdRate } from '../core/money.ts';

/** Unix milliseconds. */
export const instant = customType<{ data: number; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: Number,
});

/** A count of things that are not money. */
export const count = customType<{ data: number; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: Number,
});

export const amount = customType<{ data: Micro; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: (value) => micro(BigInt(value)),
});

export const price = customType<{ data: Pico; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: (value) => pico(BigInt(value)),
});

/**
 * Written into a `serial` column: SQLite gives a null the next number. PostgreSQL does so for
 * `default`, which SQLite does not know, so there each statement is translated.
 */
export const NEXT_NUMBER = 'null /* next number */';

/** A row number that the database gives out; it grows with time and is never used twice. */
export const serial = (name = 'id') =>
  count(name)
    .primaryKey()
    .$defaultFn(() => sql<number>`${sql.raw(NEXT_NUMBER)}`);

/** Bytes that mean something elsewhere only. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => 'blob',
});

/** One of a few words, as its place among them. A list only ever grows at its end. */
export const code = <Word extends string>(words: readonly Word[]) =>
  customType<{ data: Word; driverData: number | bigint }>({
    dataType: () => 'integer',
    fromDriver: (value) => wordAt(words, Number(value)),
    toDriver: (word) => words.indexOf(word),
  });

function wordAt<Word extends string>(words: readonly Word[], place: number): Word {
  const word = words[place];
  if (word === undefined) throw new RangeError(`There is no word for the code ${place}.`);
  return word;
}

export const FORMATS: readonly ClientFormatName[] = ['chat', 'messages'];

export const OUTCOMES: readonly Outcome[] = [
  'completed',
  'stopped_balance',
  'client_cancelled',
  'upstream_failed',
  'gateway_failed',
];

export const BASES: readonly Usage['basis'][] = ['reported', 'estimated', 'recovered'];

export const DOUBTS: readonly UsageDoubt[] = ['malformed', 'inconsistent', 'implausible', 'zero'];

/**
 * settled, released   how a request ended its hold: with a charge or without one
 * expired             the gateway ended it, because its request was gone
 */
export type HoldEnd = 'settled' | 'released' | 'expired';

export const HOLD_ENDS: readonly HoldEnd[] = ['settled', 'released', 'expired'];

/** A request id as 16 bytes (`core/id.ts`). */
export const requestId = customType<{ data: string; driverData: Uint8Array }>({
  dataType: () => 'blob',
  fromDriver: requestIdOf,
  toDriver: requestIdBytes,
});

export const usdPerMillion = customType<{ data: UsdRate; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: (value) => usdRate(BigInt(value)),
});

export const flag = customType<{ data: boolean; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: (value) => Number(value) === 1,
  toDriver: (value) => (value ? 1 : 0),
});

/** `AMOUNT_MAX`. SQLite turns an integer that overflows into a float; this refuses it long before. */
export const LARGEST = sql.raw('1000000000000000000');
