// Reads answers of the gateway in the Responses format: the events of a stream, or a whole body.

import type { Answer, Bill, Problem, ToolCall, Usage } from './answer.ts';

type Item = {
  readonly type: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly summary?: readonly { readonly text: string }[];
  readonly content?: readonly { readonly text: string }[];
};

type ResponseFields = {
  readonly status: string;
  readonly output: readonly Item[];
  readonly error: (Problem & Partial<Bill>) | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly usage?: Partial<Bill> & {
    readonly input_tokens: number;
    readonly input_tokens_details: { readonly cached_tokens: number };
    readonly output_tokens: number;
  };
};

/** An event, or a whole response, whose `object` says so. */
export type ResponsesFields =
  | ({ readonly object: 'response' } & ResponseFields)
  | {
      readonly type: `response.${string}`;
      readonly delta?: string;
      readonly item?: Item;
      readonly response?: ResponseFields;
    };

/** Whether parsed data of any format is of this one. */
export function isResponses(fields: object): fields is ResponsesFields {
  if ('object' in fields) return fields.object === 'response';
  return 'type' in fields && String(fields.type).startsWith('response.');
}

/** The answer with an event or a whole response added. */
export function readResponses(
  answer: Answer,
  fields: ResponsesFields,
  billOf: (fields: Partial<Bill> | undefined) => Bill | undefined,
): Answer {
  if ('object' in fields) return ended(fields.output.reduce(addItem, answer), fields, billOf);
  const { type, delta = '', item, response } = fields;
  switch (type) {
    case 'response.output_text.delta':
      return { ...answer, text: answer.text + delta };
    case 'response.reasoning_summary_text.delta':
      return { ...answer, reasoning: answer.reasoning + delta };
    case 'response.output_item.added':
    case 'response.output_item.done':
      return item?.type === 'function_call' ? addItem(answer, item) : answer;
    case 'response.function_call_arguments.delta':
      return { ...answer, calls: withPiece(answer.calls, delta) };
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return response === undefined ? answer : ended(answer, response, billOf);
    default:
      return answer;
  }
}

/** A call replaces its own beginning. */
function addItem(answer: Answer, item: Item): Answer {
  const { call_id: id = '', name = '', arguments: json = '' } = item;
  const said = (parts: Item['content'] = []) => parts.map(({ text }) => text).join('');
  if (item.type !== 'function_call') {
    return {
      ...answer,
      text: answer.text + said(item.content),
      reasoning: answer.reasoning + said(item.summary),
    };
  }
  const call = { id, name, arguments: json };
  const at = answer.calls.findIndex((known) => known.id === id);
  return { ...answer, calls: at < 0 ? [...answer.calls, call] : answer.calls.with(at, call) };
}

/** Pieces of several calls do not mix in practice; their ends have all of each. */
function withPiece(calls: readonly ToolCall[], piece: string): readonly ToolCall[] {
  const last = calls.at(-1);
  if (last === undefined) return calls;
  return calls.with(-1, { ...last, arguments: last.arguments + piece });
}

function ended(
  answer: Answer,
  { status, error, incomplete_details: details, usage }: ResponseFields,
  billOf: (fields: Partial<Bill> | undefined) => Bill | undefined,
): Answer {
  const bill = billOf(usage) ?? billOf(error ?? undefined) ?? answer.bill;
  const counts: Usage | undefined = usage && {
    input: usage.input_tokens,
    cached: usage.input_tokens_details.cached_tokens,
    output: usage.output_tokens,
  };
  if (error === null) return { ...answer, finish: details?.reason ?? status, usage: counts, bill };
  const { message, code, param, request_id } = error;
  return { ...answer, problem: { message, code, param, request_id }, usage: counts, bill };
}
