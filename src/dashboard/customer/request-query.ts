// The request filters shared by the list and its export.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { RequestFilter } from '../../ledger/request-list.ts';
import { oneOf } from '../edge/route.ts';
import { readTime } from './usage.ts';

export const REQUEST_QUERY = {
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  key: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  outcome: Type.Optional(oneOf(['completed', 'stopped_balance', 'client_cancelled', 'failed'])),
  /** Matched exactly as sent in the request. */
  end_user: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  from: Type.Optional(Type.String({ maxLength: 40 })),
  to: Type.Optional(Type.String({ maxLength: 40 })),
};

export function readRequestFilter(query: Static<TObject<typeof REQUEST_QUERY>>): RequestFilter {
  const { model, key, outcome, end_user, from, to } = query;
  return {
    model,
    keyId: key,
    outcome,
    endUser: end_user,
    fromMs: from === undefined ? undefined : readTime(from, 'from'),
    untilMs: to === undefined ? undefined : readTime(to, 'to'),
  };
}
