// Requests of all accounts for operators: the log, and all that is known of one.

import type { RequestFailure } from '../../core/request-failure.ts';
import type { ListedRequest } from '../../ledger/request-list.ts';
import type { explanation } from '../../operations/explanation.ts';
import type { LogEntryRecord, RefusedRequestRecord } from './customer-request.ts';

/** A row of the log. Refused requests without an account are counted together. */
export type LoggedRequestRecord = LogEntryRecord & {
  readonly request_id: string;
  readonly account_id: string | null;
  readonly account_email: string | null;
  readonly key_name: string | null;
  readonly model_requested: string | null;
  readonly upstream: string | null;
  readonly outcome: ListedRequest['outcome'] | 'refused';
  /** Why it failed; null for a refused request, and for one that did not fail. */
  readonly cause: RequestFailure | null;
};

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
