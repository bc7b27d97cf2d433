// One request in the account's list, and the list's filters.

import { type Static, Type } from '@sinclair/typebox';
import type { RequestProblem } from '../../core/advice.ts';
import type { customerExplanation } from '../../operations/customer-explanation.ts';
import type { refusedRecord } from '../../operations/requests.ts';
import type { List } from '../edge/page.ts';
import type { KeyRecord } from './key.ts';
import { count, decimal, instant, nullable, text } from './schema.ts';

type RequestOutcomeRecord =
  | 'completed'
  | 'stopped_balance'
  | 'client_cancelled'
  | 'failed'
  | 'refused';

/** What the client of a failed or refused request received, and what it can do. */
export type ProblemRecord = RequestProblem;

/** What the lists of customers and operators show alike. */
export const logEntry = Type.Object({
  /** As the client received it; null if it left before, or if the connection broke. */
  status: nullable(count),
  /** Null unless the request failed or was refused. */
  problem: Type.Unsafe<RequestProblem | null>(
    nullable(
      Type.Object({
        status: nullable(count),
        code: nullable(text),
        reason: text,
        message: text,
        what_to_do: text,
      }),
    ),
  ),
  started_at: instant,
  duration_ms: Type.Integer(),
  key_id: nullable(text),
  model_served: nullable(text),
  /** Above 1 for equal refused requests of one minute. */
  count,
  input_tokens: count,
  output_tokens: count,
  debited: decimal,
  debited_usd: decimal,
  end_user: nullable(text),
});

export type LogEntryRecord = Static<typeof logEntry>;

export type RequestRecord = LogEntryRecord & {
  readonly id: string;
  readonly object: 'request';
  /** Null for a refused request, as are the streaming flag and often the model. */
  readonly format: 'chat' | 'messages' | 'responses' | null;
  readonly stream: boolean | null;
  readonly model: string | null;
  readonly outcome: RequestOutcomeRecord;
  readonly cached_input_tokens: number;
  readonly reasoning_tokens: number;
};

/** Continues at `next`, even if `data` is short or empty: long searches end early. */
export type RequestListRecord = List<RequestRecord>;

/** How many requests match; `is_more` if there are more than counted. */
export type RequestCountRecord = { readonly count: number; readonly is_more: boolean };

/** Requests over time by how they ended. */
export type RequestChartRecord = {
  /** Where each bucket begins. */
  readonly buckets: readonly string[];
  readonly step: 'hour' | 'day';
  readonly completed: readonly number[];
  readonly cancelled: readonly number[];
  readonly failed: readonly number[];
  /** Refused ones are kept for seven days. */
  readonly refused: readonly number[];
};

/** A refused request, or several equal ones of one minute. */
export type RefusedRequestRecord = ReturnType<typeof refusedRecord>;

/** The available filter values. */
export type RequestFiltersRecord = {
  readonly models: readonly string[];
  readonly keys: readonly Pick<KeyRecord, 'id' | 'name' | 'masked'>[];
};

/** Usage times one price, and the total rounded once. */
export type CalculationRecord = RequestHistoryRecord['calculations'][number];

/** The history of one request for the customer. Amounts are service tokens. */
export type RequestHistoryRecord = ReturnType<typeof customerExplanation> & {
  readonly object: 'request';
  readonly key_name: string | null;
  /** The ids of the next newer and the next older one of the account; null at an end. */
  readonly newer: string | null;
  readonly older: string | null;
};
