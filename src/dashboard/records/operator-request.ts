// Requests of all accounts for operators: the log, and all that is known of one.

import type { RequestFailure } from '../../core/request-failure.ts';
import type { ListedRequest } from '../../ledger/request-list.ts';
import type { explanation } from '../../operations/explanation.ts';
import type { ProblemRecord, RefusedRequestRecord } from './customer-request.ts';

/** A row of the log. Refused requests without an account are counted together. */
export type LoggedRequestRecord = {
  readonly request_id: string;
  readonly account_id: string | null;
  readonly account_email: string | null;
  readonly key_id: string | null;
  readonly key_name: string | null;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly model_requested: string | null;
  readonly model_served: string | null;
  readonly upstream: string | null;
  readonly outcome: ListedRequest['outcome'] | 'refused';
  readonly status: number | null;
  /** Why it failed; null for a refused request, and for one that did not fail. */
  readonly cause: RequestFailure | null;
  readonly problem: ProblemRecord | null;
  readonly count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly debited: string;
  readonly debited_usd: string;
  readonly end_user: string | null;
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
