// Column types of all tables, so that the meaning of a column (a time, a count, an amount) is
// visible in its definition. The connection reads integers as bigint; these types convert the ones
// that are not money to numbers.

import { sql } from 'drizzle-orm';
import { customType } from 'drizzle-orm/sqlite-core';
import type { ClientFormatName } from '../core/admit.ts';
import { requestIdBytes, requestIdOf } from '../core/id.ts';
import { type Micro, micro, type Pico, pico, type UsdRate, usdRate } from '../core/money.ts';
import type { PriceTerms } from '../core/price.ts';
import { readTerms, termsText } from '../core/price-terms.ts';
import { REQUEST_FAILURES, type RequestFailure } from '../core/request-failure.ts';

/** Unix milliseconds. */
export const instant = customType<{ data: number; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: Number,
});

/** A count of things other than money. */
export const count = customType<{ data: number; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: Number,
});

export const amount = customType<{ data: Micro; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: (value) => micro(BigInt(value)),
});

/** What a price has beyond its four rates, as canonical JSON. */
export const priceTerms = customType<{ data: PriceTerms; driverData: string }>({
  dataType: () => 'text',
  fromDriver: readTerms,
  toDriver: termsText,
});

export const price = customType<{ data: Pico; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: (value) => pico(BigInt(value)),
});

/**
 * The value of a `serial` column in inserts: SQLite replaces null by the next number. PostgreSQL
 * needs `default`, which SQLite does not support, so its driver rewrites the statement.
 */
export const NEXT_NUMBER = 'null /* next number */';

/** A row number from the database; it grows with time and is never reused. */
export const serial = (name = 'id') =>
  count(name)
    .primaryKey()
    .$defaultFn(() => sql<number>`${sql.raw(NEXT_NUMBER)}`);

/** Bytes that the database does not interpret. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => 'blob',
});

/** One of a few words, stored as its index. New words go at the end of a list. */
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

export const FORMATS: readonly ClientFormatName[] = ['chat', 'messages', 'responses'];

/**
 * settled, released   how a request ended its hold: with a charge or without one
 * expired             the gateway ended it, because its request was gone
 */
export type HoldEnd = 'settled' | 'released' | 'expired';

export const HOLD_ENDS: readonly HoldEnd[] = ['settled', 'released', 'expired'];

/**
 * Both in one number, which is small for a request that did not fail: another column would cost
 * each row a byte. The view of the requests takes it apart.
 */
export function endingCode(end: HoldEnd, failure: RequestFailure | null): number {
  const word = failure === null ? 0 : REQUEST_FAILURES.indexOf(failure) + 1;
  return word * HOLD_ENDS.length + HOLD_ENDS.indexOf(end);
}

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

/** `AMOUNT_MAX`. SQLite turns an overflowing integer into a float; this check fails long before. */
export const LARGEST = sql.raw('1000000000000000000');
