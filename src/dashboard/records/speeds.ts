// How fast answers were and how requests failed, for customers by model and for operators by
// upstream. Values are within 5 % of the exact ones; null without a measurement.

import { type Static, Type } from '@sinclair/typebox';
import { count, instant, many, named, nullable, oneOf, text } from './schema.ts';

const value = nullable(Type.Number());

const figures = {
  /** Requests of a customer; attempts at an upstream. */
  requests: count,
  failed: count,
  first_token_ms_p50: value,
  first_token_ms_p95: value,
  duration_ms_p50: value,
  duration_ms_p95: value,
  tokens_per_second_p50: value,
};

export const speedsAnswer = named('Speeds', {
  object: Type.Literal('speeds'),
  step: oneOf('hour', 'day', 'month'),
  /** Where each bucket begins. */
  buckets: many(instant),
  from: instant,
  to: instant,
  total: Type.Object(figures),
  points: many(
    Type.Object({
      /** The index of its bucket; buckets without requests have no point. */
      bucket: count,
      ...figures,
      /** Failed attempts by class. */
      failures: Type.Unsafe<Readonly<Record<string, number>>>(Type.Record(text, count)),
    }),
  ),
  /** Most requests first. */
  models: many(Type.Object({ model: text, ...figures })),
});

export type SpeedsRecord = Static<typeof speedsAnswer>;

export type SpeedFiguresRecord = SpeedsRecord['total'];

export type SpeedPointRecord = SpeedsRecord['points'][number];
