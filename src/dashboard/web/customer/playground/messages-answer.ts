// Parses responses in the Messages format: a stream event, a whole answer, or an error. Pure: takes
// the answer so far and returns the updated one.

import {
  type Answer,
  type BillFields,
  type ErrorFields,
  readBill,
  withCall,
  withError,
} from './answer.ts';

type Block = {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
};

type Delta = {
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
  readonly stop_reason?: string | null;
};

type UsageFields = BillFields & {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
};

type MessagesFields = {
  readonly type?: string;
  readonly error?: ErrorFields;
  readonly content_block?: Block;
  readonly delta?: Delta;
  readonly usage?: UsageFields;
  /** Of a whole answer. */
  readonly content?: readonly Block[];
  readonly stop_reason?: string | null;
};

/** `data` is the text of one event, or of a whole body. */
export function readMessages(answer: Answer, data: string): Answer {
  const event = JSON.parse(data) as MessagesFields;
  switch (event.type) {
    case 'error':
      return withError(answer, event.error ?? {});
    case 'content_block_start':
      return beginBlock(answer, event.content_block ?? {});
    case 'content_block_delta':
      return withDelta(answer, event.delta ?? {});
    case 'message_delta':
      return withEnd(answer, event.delta?.stop_reason, event.usage);
    case 'message': {
      const next = (event.content ?? []).reduce(addBlock, answer);
      return withEnd(next, event.stop_reason, event.usage);
    }
    default:
      return answer;
  }
}

/** Blocks arrive in order, so only the last call can grow. */
function beginBlock(answer: Answer, { type, id = '', name = '' }: Block): Answer {
  return type === 'tool_use' ? withCall(answer, answer.calls.length, { id, name }) : answer;
}

function addBlock(answer: Answer, block: Block): Answer {
  const { text = '', thinking = '', signature = '', input } = block;
  const begun = withDelta(beginBlock(answer, block), { text, thinking, signature });
  return input === undefined ? begun : withDelta(begun, { partial_json: JSON.stringify(input) });
}

function withDelta(answer: Answer, delta: Delta): Answer {
  const { text = '', thinking = '', signature = '', partial_json: json } = delta;
  const next = {
    ...answer,
    text: answer.text + text,
    reasoning: answer.reasoning + thinking,
    signature: answer.signature + signature,
  };
  return json === undefined ? next : withCall(next, next.calls.length - 1, { arguments: json });
}

function withEnd(answer: Answer, reason: string | null | undefined, usage?: UsageFields): Answer {
  if (usage === undefined) return answer;
  const cached = usage.cache_read_input_tokens;
  return {
    ...answer,
    finish: reason ?? answer.finish,
    usage: { input: usage.input_tokens + cached, cached, output: usage.output_tokens },
    bill: readBill(usage) ?? answer.bill,
  };
}
