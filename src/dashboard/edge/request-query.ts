// The request filters shared by the list and its export.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import { ERRORS, type ErrorCode } from '../../core/error.ts';
import type { LogFilter } from '../../operations/request-log.ts';
import { readTime, SPAN_QUERY } from '../period.ts';
import { oneOf } from './route.ts';

/**
 * Matched exactly as sent in the request. Its 256 characters are code points, and this length counts
 * UTF-16 units.
 */
export const END_USER = Type.Optional(Type.String({ minLength: 1, maxLength: 512 }));

const MODEL = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

export const REQUEST_QUERY = {
  /** The model that served or the requested one. */
  model: MODEL,
  /** Exactly the model that served (if none did, the requested one), and the requested one. */
  served: MODEL,
  requested: MODEL,
  key: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  outcome: Type.Optional(
    oneOf(['completed', 'stopped_balance', 'client_cancelled', 'failed', 'ended', 'refused']),
  ),
  /** As the client received it: one status, or a class such as `4xx`. */
  status: Type.Optional(Type.String({ pattern: '^([245]xx|[2-5]\\d\\d)$' })),
  code: Type.Optional(oneOf(Object.keys(ERRORS) as ErrorCode[])),
  end_user: END_USER,
  ...SPAN_QUERY,
};

export function readRequestFilter(query: Static<TObject<typeof REQUEST_QUERY>>): LogFilter {
  const { model, served, requested, key, outcome, status, code, end_user, from, to } = query;
  return {
    model,
    served,
    requested,
    keyId: key,
    outcome,
    status,
    code,
    endUser: end_user,
    fromMs: from === undefined ? undefined : readTime(from, 'from'),
    untilMs: to === undefined ? undefined : readTime(to, 'to'),
  };
}
