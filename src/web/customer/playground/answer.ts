// The playground's model of an answer in any format, streamed or whole.

export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** The charge of an answer, in the fields of all formats. */
export type Bill = {
  readonly svc_tokens_debited: string;
  readonly svc_cost_usd: string;
  /** Whether a fallback model answered. */
  readonly svc_fallback_used: boolean;
  /** Whether an estimate of unseen output is in it. */
  readonly svc_estimated: boolean;
};

export type Usage = { readonly input: number; readonly cached: number; readonly output: number };

export type Problem = {
  readonly message: string;
  readonly code: string;
  readonly param: string | undefined;
  readonly request_id: string | undefined;
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

/** The arguments of a call as a value; undefined if they are no JSON, as in an interrupted call. */
export function argumentsOf({ arguments: json }: ToolCall): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
