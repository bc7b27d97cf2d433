// One request as an operator sees it: everything that the books know, upstreams and costs included.

import type { AttemptFacts, UpstreamCosts } from '../../operations/attempt-facts.ts';
import type { CalculationRecord } from './customer-request.ts';

export type OperatorRequestRecord = {
  readonly request_id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: { readonly requested: string; readonly served: string | null };
  readonly hold: {
    readonly phase: string;
    readonly first_amount: string;
    readonly grown_by: string;
    readonly amount: string;
    readonly estimated_prompt_tokens: number;
    readonly output_bound: number;
    readonly price_version: string;
    readonly created_at: string;
    readonly dispatched_at: string | null;
    readonly ended_at: string | null;
  };
  /** Null while it is under way, as are usage and what is booked. */
  readonly request: {
    readonly format: 'chat' | 'messages';
    readonly stream: boolean;
    readonly upstream: string | null;
    readonly outcome: string;
    readonly end_user: string | null;
    readonly started_at: string;
    readonly ended_at: string;
  } | null;
  readonly usage: {
    readonly basis: string;
    readonly input_tokens: number;
    readonly cached_input_tokens: number;
    readonly cache_write_tokens: number;
    readonly output_tokens: number;
    readonly reasoning_tokens: number;
    readonly doubt: string | null;
    /** As the upstream wrote it. */
    readonly reported: object | null;
  } | null;
  readonly calculations: readonly CalculationRecord[];
  readonly booked: {
    readonly charged: string;
    readonly debited: string;
    readonly debited_usd: string;
    readonly loss: string;
    readonly balance_after: string | null;
  } | null;
  readonly receipt: { readonly sequence: number; readonly hash: string } | null;
  readonly attempts: readonly AttemptFacts[];
  readonly upstream_costs: UpstreamCosts | null;
};
