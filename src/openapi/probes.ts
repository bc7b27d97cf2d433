// What the routes that need no key answer.

import { Type } from '@sinclair/typebox';
import { count, named, oneOf } from '../dashboard/records/schema.ts';

export const health = named('Health', { status: Type.Literal('ok'), version: Type.String() });

export const readiness = named('Readiness', {
  status: oneOf('ready', 'not_ready'),
  problems: Type.Array(Type.String()),
  warnings: Type.Array(Type.String()),
  detail: Type.Object({
    requests_in_flight: count,
    streams_open: count,
    limits: Type.String(),
    redis: Type.Unknown(),
    ledger_pending: count,
    upstreams: Type.Unknown({
      description: 'How many there are. The operator gets a record of each.',
    }),
    credentials_disabled: count,
    breakers_open: count,
  }),
});

export const service = named('Service', {
  service: Type.Literal('tollgate'),
  version: Type.String(),
  docs: Type.String(),
});
