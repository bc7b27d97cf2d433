// Requests of all accounts for operators: the log, and all that is known of one.

import { type Static, Type } from '@sinclair/typebox';
import type { RequestFailure } from '../../core/request-failure.ts';
import type { ListedRequest } from '../../ledger/request-list.ts';
import type { explanation } from '../../operations/explanation.ts';
import { logEntry, type RefusedRequestRecord } from './customer-request.ts';
import { list, named, nullable, text } from './schema.ts';

/** A row of the log. Refused requests without an account are counted together. */
const loggedRequest = named('RequestEntry', {
  ...logEntry.properties,
  request_id: text,
  account_id: nullable(text),
  account_email: nullable(text),
  key_name: nullable(text),
  model_requested: nullable(text),
  upstream: nullable(text),
  outcome: Type.Unsafe<ListedRequest['outcome'] | 'refused'>(text),
  /** Why it failed; null for a refused request, and for one that did not fail. */
  cause: Type.Unsafe<RequestFailure | null>(nullable(text)),
});

export const requestListAnswer = list('RequestList', loggedRequest);

export type LoggedRequestRecord = Static<typeof loggedRequest>;

/** A message of the log's feed: a change means that the list has new rows. */
export type NewestRequestRecord = { readonly last_request: number; readonly last_refused: number };

/** One request with all ledger data, including upstreams and costs. */
export type OperatorRequestRecord = ReturnType<typeof explanation> & {
  readonly object: 'request';
  readonly account_email: string | null;
  readonly key_name: string | null;
};

/** A refused request, or several equal ones of one minute. */
export type OperatorRefusalRecord = RefusedRequestRecord & {
  readonly account_id: string | null;
  readonly account_email: string | null;
};
