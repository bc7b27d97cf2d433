// One request in the account's list, and the list's filters.

import type { customerExplanation } from '../../operations/customer-explanation.ts';
import type { List } from '../edge/page.ts';
import type { KeyRecord } from './key.ts';

type RequestOutcomeRecord = 'completed' | 'stopped_balance' | 'client_cancelled' | 'failed';

export type RequestRecord = {
  readonly id: string;
  readonly object: 'request';
  readonly started_at: string;
  readonly duration_ms: number;
  readonly key_id: string;
  readonly format: 'chat' | 'messages';
  readonly stream: boolean;
  readonly model: string;
  /** Null without an answer; differs from `model` after a fallback. */
  readonly model_served: string | null;
  readonly outcome: RequestOutcomeRecord;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  /** In service tokens. */
  readonly debited: string;
  readonly debited_usd: string;
  readonly end_user: string | null;
};

/** Continues at `next`, even if `data` is short or empty: long searches end early. */
export type RequestListRecord = List<RequestRecord>;

/** The available filter values. */
export type RequestFiltersRecord = {
  readonly models: readonly string[];
  readonly keys: readonly Pick<KeyRecord, 'id' | 'name' | 'masked'>[];
};

/** Usage times one price, and the total rounded once. */
export type CalculationRecord = RequestHistoryRecord['calculations'][number];

/** The history of one request for the customer. Amounts are service tokens. */
export type RequestHistoryRecord = ReturnType<typeof customerExplanation>;
