// What the columns of every table are made of, so that the meaning of one (an instant, a count, an
// amount) is named where it is defined. The connection reads integers as bigint; these turn the
// ones that are not money back into numbers.

import { sql } from 'drizzle-orm';
import { customType } from 'drizzle-orm/sqlite-core';
import { type Micro, micro, type Pico, pico } from '../core/money.ts';

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
export const serial = () =>
  count('id')
    .primaryKey()
    .$defaultFn(() => sql<number>`${sql.raw(NEXT_NUMBER)}`);

/** Bytes that mean something elsewhere only. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => 'blob',
});

export const flag = customType<{ data: boolean; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: (value) => Number(value) === 1,
  toDriver: (value) => (value ? 1 : 0),
});

/** `AMOUNT_MAX`. SQLite turns an integer that overflows into a float; this refuses it long before. */
export const LARGEST = sql.raw('1000000000000000000');
