// Which requests a customer asks for: the filters that the list and its export share.

import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { RequestFilter, RequestPlace } from '../../ledger/request-list.ts';
import { DashboardError } from '../edge/error.ts';
import type { Page } from '../edge/page.ts';
import { readTime } from './usage.ts';

export const REQUEST_QUERY = {
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  key: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  outcome: Type.Optional(
    Type.Union([
      Type.Literal('completed'),
      Type.Literal('stopped_balance'),
      Type.Literal('client_cancelled'),
      Type.Literal('failed'),
    ]),
  ),
  /** Letter for letter, as the requests named it. */
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

/** Throws `invalid_request`. */
export function readRequestPlace({ after }: Pick<Page, 'after'>): RequestPlace | undefined {
  if (after === undefined) return undefined;
  const [, startedAt, row] = /^(\d{1,15})\.(\d{1,15})$/.exec(after) ?? [];
  if (startedAt !== undefined && row !== undefined) {
    return { startedAt: Number(startedAt), row: Number(row) };
  }
  throw new DashboardError('invalid_request', 'The field after of the query is not valid.', {
    param: 'after',
  });
}

export function requestPlace({ startedAt, row }: RequestPlace): string {
  return `${startedAt}.${row}`;
}
