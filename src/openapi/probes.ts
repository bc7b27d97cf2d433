// What the routes that need no key answer.

import { Type } from '@sinclair/typebox';

const count = Type.Integer({ minimum: 0 });

export const health = Type.Object(
  { status: Type.Literal('ok'), version: Type.String() },
  { $id: 'Health' },
);

export const readiness = Type.Object(
  {
    status: Type.Unsafe({ type: 'string', enum: ['ready', 'not_ready'] }),
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
  },
  { $id: 'Readiness' },
);

export const service = Type.Object(
  { service: Type.Literal('tollgate'), version: Type.String(), docs: Type.String() },
  { $id: 'Service' },
);
