// An answer as the playground knows it, whichever format it came in, whole or piece by piece.

export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** What an answer was charged, in the gateway's own words: decimal strings. */
type Bill = {
  readonly tokens: string;
  readonly usd: string;
  /** What is left; whole answers of the formats do not say it in their body. */
  readonly balance: string | undefined;
  /** Whether another model than the one that was asked for has answered. */
  readonly isFallback: boolean;
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
  /** What has to come back with the reasoning in the Messages format. */
  readonly signature: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** Why it ended, in the words of its format. */
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

/** The members in which both formats tell what an answer cost. */
export type BillFields = {
  readonly svc_tokens_debited?: string;
  readonly svc_cost_usd?: string;
  readonly svc_balance_tokens?: string;
  readonly svc_fallback_used?: boolean;
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
  };
}

/** An error of either envelope; one that ended a stream has its bill in it. */
export function withError(answer: Answer, error: ErrorFields): Answer {
  return {
    ...answer,
    bill: readBill(error) ?? answer.bill,
    problem: {
      message: error.message ?? 'The gateway sent an error without a message.',
      code: error.code ?? 'unknown',
      param: error.param,
      requestId: error.request_id,
    },
  };
}

/** The answer with one call begun, or changed. */
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
