// Parses responses in the chat-completions format: a stream chunk, a whole answer, or an error.
// Pure: takes the answer so far and returns the updated one.

import {
  type Answer,
  type BillFields,
  type ErrorFields,
  readBill,
  withCall,
  withError,
} from './answer.ts';

type CallFields = {
  readonly index?: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
};

type MessageFields = {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly CallFields[];
};

type ChatFields = BillFields & {
  readonly error?: ErrorFields;
  readonly choices?: readonly {
    readonly delta?: MessageFields;
    readonly message?: MessageFields;
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: BillFields & {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_cache_hit_tokens: number;
  };
};

/** `data` is the text of one event, or of a whole body. */
export function readChat(answer: Answer, data: string): Answer {
  if (data === '[DONE]') return answer;
  const { error, choices, usage, ...bill } = JSON.parse(data) as ChatFields;
  if (error !== undefined) return withError(answer, error);
  const choice = choices?.[0];
  return {
    ...withMessage(answer, choice?.delta ?? choice?.message ?? {}),
    finish: choice?.finish_reason ?? answer.finish,
    bill: readBill(bill) ?? readBill(usage) ?? answer.bill,
    usage:
      usage === undefined
        ? answer.usage
        : {
            input: usage.prompt_tokens,
            cached: usage.prompt_cache_hit_tokens,
            output: usage.completion_tokens,
          },
  };
}

function withMessage(answer: Answer, message: MessageFields): Answer {
  const next = {
    ...answer,
    text: answer.text + (message.content ?? ''),
    reasoning: answer.reasoning + (message.reasoning_content ?? ''),
  };
  return (message.tool_calls ?? []).reduce<Answer>(
    (sum, { index, id, function: called }, place) =>
      withCall(sum, index ?? place, { ...(id === undefined ? {} : { id }), ...called }),
    next,
  );
}
