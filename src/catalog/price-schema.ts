// The shape of what a catalog says about a model's prices: rates, windows of the day, periods.
// Part of schema.ts; what needs more than one value to decide is in prices.ts.

import { type Static, Type } from '@sinclair/typebox';
import { WEEKDAYS } from '../core/price-book.ts';

const RATES = 'input = "0.15", cached_input = "0.03", output = "0.60"';

const rate = () => {
  const million = '(?:1000000(?:\\.0+)?|\\d{1,6}(?:\\.\\d+)?)';
  const decimal = Type.String({ pattern: `^(?=\\d+(?:\\.\\d{1,12})?$)${million}$` });
  return Type.Union([decimal, Type.Integer({ minimum: 0, maximum: 1_000_000 })], {
    expects: 'a decimal such as "0.60", at most 1000000 and with at most 12 decimals',
  });
};

/** Seconds may be there because TOML's own times have them. */
const timeOfDay = (hours: string, expects: string) =>
  Type.String({ pattern: `^(?:${hours})(?::00)?$`, expects });

const RateFields = {
  input: rate(),
  cached_input: Type.Optional(rate()),
  cache_write: Type.Optional(rate()),
  output: rate(),
};

const WeekdaySchema = Type.Union(
  WEEKDAYS.map((day) => Type.Literal(day)),
  { expects: '"mon", "tue", "wed", "thu", "fri", "sat" or "sun"' },
);

export const WindowSchema = Type.Object(
  {
    from: timeOfDay(
      '(?:[01]\\d|2[0-3]):[0-5]\\d',
      'a time of day in UTC from "00:00" to "23:59", such as "16:30"',
    ),
    to: timeOfDay(
      '(?:[01]\\d|2[0-3]):[0-5]\\d|24:00',
      'a time of day in UTC from "00:00" to "24:00", such as "00:30"',
    ),
    days: Type.Optional(
      Type.Array(WeekdaySchema, {
        minItems: 1,
        uniqueItems: true,
        expects: 'a list of different days, such as ["sat", "sun"]',
      }),
    ),
    ...RateFields,
  },
  {
    additionalProperties: false,
    expects: `a table such as { from = "16:30", to = "00:30", ${RATES} }`,
  },
);

const windows = Type.Optional(Type.Array(WindowSchema, { expects: 'a list of windows' }));

/** The price from the beginning. */
export const PriceSchema = Type.Object(
  { ...RateFields, windows },
  { additionalProperties: false, expects: `a table such as { ${RATES} }` },
);

/** What an upstream asks the operator, whatever the day and the hour. */
export const CostSchema = Type.Object(RateFields, {
  additionalProperties: false,
  expects: `a table such as { ${RATES} }`,
});

/** A price that comes into force later. */
export const PeriodSchema = Type.Object(
  {
    valid_from: Type.String({
      pattern:
        '^\\d{4}-\\d{2}-\\d{2}[Tt ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:[Zz]|[+-]\\d{2}:\\d{2})$',
      expects: 'an instant with its zone, such as 2026-10-01T00:00:00Z',
    }),
    ...RateFields,
    windows,
  },
  {
    additionalProperties: false,
    expects: `a table such as { valid_from = 2026-10-01T00:00:00Z, ${RATES} }`,
  },
);

export type RatesEntry = Static<typeof PriceSchema>;
export type WindowEntry = Static<typeof WindowSchema>;
export type PeriodEntry = Static<typeof PeriodSchema>;
