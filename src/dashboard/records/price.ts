// Prices of models: the parts of every price, and the sheet of all models.

import { Type } from '@sinclair/typebox';
import { count, decimal, instant, many, named, nullable } from './schema.ts';

const rates = {
  input: decimal,
  cached_input: decimal,
  cached_input_explicit: Type.Optional(decimal),
  cache_write: decimal,
  cache_write_1h: Type.Optional(decimal),
  output: decimal,
};
const bothRates = { ...rates, svc_tokens: Type.Object(rates) };
export const allRates = {
  version: Type.String(),
  ...bothRates,
  tiers: Type.Optional(many(Type.Object({ above_tokens: count, ...bothRates }))),
  service_tiers: Type.Optional(Type.Record(Type.String(), decimal)),
};
const timeOfDay = Type.String({ pattern: '^\\d\\d:\\d\\d$' });

/** A price, in a window of the day. */
export const windowPrice = {
  from: timeOfDay,
  to: timeOfDay,
  days: many(Type.Unknown()),
  ...allRates,
};

/** All prices, also past and planned ones. */
export const priceSheetAnswer = named('Prices', {
  at: instant,
  currency: Type.Literal('USD'),
  unit: Type.Literal('1M_tokens'),
  models: many(
    Type.Object({
      model: Type.String(),
      version: Type.String(),
      next_change_at: nullable(instant),
      prices: many(
        Type.Object({
          valid_from: nullable(instant),
          ...allRates,
          in_force: Type.Boolean(),
          windows: many(Type.Object({ ...windowPrice, in_force: Type.Boolean() })),
        }),
      ),
    }),
  ),
});
