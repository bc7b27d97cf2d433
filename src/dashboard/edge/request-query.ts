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
export const END_USER = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 512,
    description: 'The end user, as the client sent it.',
  }),
);

const model = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

export const REQUEST_QUERY = {
  model: model('The model that served or the requested one.'),
  served: model('The model that served; if none did, the requested one.'),
  requested: model('The requested model.'),
  key: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'The id of a key.' })),
  outcome: Type.Optional(
    oneOf(
      ['completed', 'stopped_balance', 'client_cancelled', 'failed', 'ended', 'refused'],
      'How it ended.',
    ),
  ),
  status: Type.Optional(
    Type.String({
      pattern: '^([245]xx|[2-5]\\d\\d)$',
      description: 'As the client received it: one status, or a class such as `4xx`.',
    }),
  ),
  code: Type.Optional(oneOf(Object.keys(ERRORS) as ErrorCode[], 'The error that it got.')),
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
