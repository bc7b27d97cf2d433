// The playground's model of an answer in either format, streamed or whole.

import { t } from '../../text/t.ts';

export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** The charge of an answer, as decimal strings from the gateway. */
export type Bill = {
  readonly tokens: string;
  readonly usd: string;
  /** The remaining balance. Absent for whole answers, whose body has no such field. */
  readonly balance: string | undefined;
  /** Whether a fallback model answered. */
  readonly isFallback: boolean;
  /** Whether an estimate of unseen output is in it. */
  readonly isEstimate: boolean;
};

type Usage = { readonly input: number; readonly cached: number; readonly output: number };

export type Problem = {
  readonly message: string;
  readonly code: string;
  readonly param: string | undefined;
  readonly requestId: string | undefined;
};

export type Answer = {
  readonly reasoning: string;
  /** The signature that must be sent back with the reasoning in the Messages format. */
  readonly signature: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** The finish reason, as the format names it. */
  readonly finish: string | undefined;
  readonly usage: Usage | undefined;
  readonly bill: Bill | undefined;
  readonly problem: Problem | undefined;
};

export const NO_ANSWER: Answer = {
  reasoning: '',
  signature: '',
  text: '',
  calls: [],
  finish: undefined,
  usage: undefined,
  bill: undefined,
  problem: undefined,
};

/** The cost fields of both formats. */
export type BillFields = {
  readonly svc_tokens_debited?: string;
  readonly svc_cost_usd?: string;
  readonly svc_balance_tokens?: string;
  readonly svc_fallback_used?: boolean;
  readonly svc_estimated?: boolean;
};

export type ErrorFields = BillFields & {
  readonly message?: string;
  readonly code?: string;
  readonly param?: string;
  readonly request_id?: string;
};

export function readBill(fields: BillFields | undefined): Bill | undefined {
  if (fields?.svc_tokens_debited === undefined) return undefined;
  return {
    tokens: fields.svc_tokens_debited,
    usd: fields.svc_cost_usd ?? '',
    balance: fields.svc_balance_tokens,
    isFallback: fields.svc_fallback_used === true,
    isEstimate: fields.svc_estimated === true,
  };
}

/** An error in either envelope. An error that ended a stream contains the bill. */
export function withError(answer: Answer, error: ErrorFields): Answer {
  return {
    ...answer,
    bill: readBill(error) ?? answer.bill,
    problem: {
      message: error.message ?? t('The gateway returned an error without a message.'),
      code: error.code ?? 'unknown',
      param: error.param,
      requestId: error.request_id,
    },
  };
}

/** Returns the answer with one tool call added or updated. */
export function withCall(answer: Answer, index: number, more: Partial<ToolCall>): Answer {
  const calls = [...answer.calls];
  const before = calls[index] ?? { id: '', name: '', arguments: '' };
  calls[index] = {
    id: more.id ?? before.id,
    name: more.name ?? before.name,
    arguments: before.arguments + (more.arguments ?? ''),
  };
  return { ...answer, calls };
}
