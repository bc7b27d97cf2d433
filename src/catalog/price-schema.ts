// The schema of a model's prices: rates, windows of the day, periods. Part of schema.ts; rules
// across several values are in prices.ts.

import { type Static, Type } from '@sinclair/typebox';
import { say } from '../core/sentence.ts';
import { closed, decimal, integer, listOf, oneOf, tableLike, text } from './shapes.ts';

const RATES = 'input = "0.15", cached_input = "0.03", output = "0.60"';

const rate = () => decimal(12, '0.60');

/** Seconds are allowed because TOML's own times have them. */
const timeOfDay = (hours: string, last: string, example: string) =>
  text(
    say('a time of day in UTC from {first} to {last}, such as {example}', {
      first: '"00:00"',
      last: `"${last}"`,
      example: `"${example}"`,
    }),
    { pattern: `^(?:${hours})(?::00)?$` },
  );

/** In the order in which files have them. */
const RateFields = {
  input: rate(),
  cached_input: Type.Optional(rate()),
  cached_input_explicit: Type.Optional(rate()),
  cache_write: Type.Optional(rate()),
  cache_write_1h: Type.Optional(rate()),
  output: rate(),
};

export const TierSchema = closed(
  { above_tokens: integer(1, 100_000_000), ...RateFields },
  tableLike('{ above_tokens = 200000, input = "0.30", output = "0.90" }'),
);

const PriceFields = {
  ...RateFields,
  tiers: Type.Optional(
    listOf(TierSchema, say('a list of 1 to 8 tiers by prompt length'), {
      minItems: 1,
      maxItems: 8,
    }),
  ),
  service_tiers: Type.Optional(
    Type.Record(Type.String(), decimal(4, '0.5', true), {
      minProperties: 1,
      maxProperties: 16,
      expects: say('a table of 1 to 16 factors such as {example}', {
        example: '{ flex = "0.5", priority = "2" }',
      }),
    }),
  ),
};

const weekday = oneOf('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun');

export const WindowSchema = closed(
  {
    from: timeOfDay('(?:[01]\\d|2[0-3]):[0-5]\\d', '23:59', '16:30'),
    to: timeOfDay('(?:[01]\\d|2[0-3]):[0-5]\\d|24:00', '24:00', '00:30'),
    days: Type.Optional(
      listOf(
        weekday,
        say('a list of different days, such as {example}', { example: '["sat", "sun"]' }),
        {
          minItems: 1,
          uniqueItems: true,
        },
      ),
    ),
    ...PriceFields,
  },
  tableLike(`{ from = "16:30", to = "00:30", ${RATES} }`),
);

const windows = Type.Optional(listOf(WindowSchema, say('a list of windows')));

/** The price from the beginning. */
export const PriceSchema = closed({ ...PriceFields, windows }, tableLike(`{ ${RATES} }`));

/** An upstream's cost to the operator, the same at any time. */
export const CostSchema = closed(PriceFields, tableLike(`{ ${RATES} }`));

/** A price that applies from a later instant. */
export const PeriodSchema = closed(
  {
    valid_from: text(say('an instant with its zone, such as 2026-10-01T00:00:00Z'), {
      pattern:
        '^\\d{4}-\\d{2}-\\d{2}[Tt ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,3})?)?(?:[Zz]|[+-]\\d{2}:\\d{2})$',
    }),
    ...PriceFields,
    windows,
  },
  tableLike(`{ valid_from = 2026-10-01T00:00:00Z, ${RATES} }`),
);

export type RatesEntry = Static<typeof PriceSchema>;
export type TierEntry = Static<typeof TierSchema>;
export type WindowEntry = Static<typeof WindowSchema>;
export type PeriodEntry = Static<typeof PeriodSchema>;
