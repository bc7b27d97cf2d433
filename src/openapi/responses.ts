// What the Responses format answers, whole and as events.

import { type TSchema, Type } from '@sinclair/typebox';
import { count, many, named, nullable, oneOf } from '../dashboard/records/schema.ts';
import { bill, charge } from './answers.ts';
import { errorMembers, event } from './errors.ts';

const status = oneOf('in_progress', 'completed', 'incomplete');
const outputText = named('ResponseOutputText', {
  type: Type.Literal('output_text'),
  text: Type.String(),
  annotations: Type.Array(Type.Unknown(), { maxItems: 0 }),
  logprobs: Type.Array(Type.Unknown(), { maxItems: 0 }),
});
const summaryText = named('ResponseSummaryText', {
  type: Type.Literal('summary_text'),
  text: Type.String(),
});
const called = {
  id: Type.String(),
  status,
  call_id: Type.String(),
  name: Type.String(),
  namespace: Type.Optional(Type.String()),
};

const item = Type.Unsafe({
  $id: 'ResponseItem',
  anyOf: [
    Type.Object({
      id: Type.String(),
      type: Type.Literal('reasoning'),
      summary: Type.Array(summaryText),
      encrypted_content: Type.String(),
    }),
    Type.Object({
      id: Type.String(),
      type: Type.Literal('message'),
      role: Type.Literal('assistant'),
      status,
      content: Type.Array(outputText),
    }),
    Type.Object({ ...called, type: Type.Literal('function_call'), arguments: Type.String() }),
    Type.Object({ ...called, type: Type.Literal('custom_tool_call'), input: Type.String() }),
  ],
});

const counts = {
  input_tokens: count,
  input_tokens_details: Type.Object({ cached_tokens: count, cache_write_tokens: count }),
  output_tokens: count,
  output_tokens_details: Type.Object({ reasoning_tokens: count }),
  total_tokens: count,
};
const incomplete = Type.Object({ reason: oneOf('max_output_tokens', 'content_filter') });

const constant = {
  id: Type.String({ pattern: '^resp_' }),
  object: Type.Literal('response'),
  created_at: count,
  background: Type.Literal(false),
  instructions: Type.Null(),
  metadata: Type.Object({}),
  model: Type.String(),
  output: many(item),
  parallel_tool_calls: Type.Literal(true),
  previous_response_id: Type.Null(),
  store: Type.Literal(false),
  temperature: Type.Null(),
  tool_choice: Type.Literal('auto'),
  tools: Type.Array(Type.Unknown(), { maxItems: 0 }),
  top_p: Type.Null(),
};
const settled = {
  ...constant,
  status: oneOf('completed', 'incomplete'),
  error: Type.Null(),
  incomplete_details: nullable(incomplete),
};

export const response = named('Response', {
  ...settled,
  usage: named('ResponseUsage', { ...counts, ...charge }),
});

export const inputTokens = named('InputTokens', {
  object: Type.Literal('response.input_tokens'),
  input_tokens: count,
});

const begun = Type.Object({
  ...constant,
  status: Type.Literal('in_progress'),
  error: Type.Null(),
  incomplete_details: Type.Null(),
});
const usage = Type.Object({ ...counts, ...bill });
const ended = Type.Object({ ...settled, usage });
const failed = Type.Object({
  ...constant,
  status: Type.Literal('failed'),
  error: Type.Object(errorMembers),
  incomplete_details: Type.Null(),
  usage: Type.Optional(usage),
});

const inItem = { item_id: Type.String(), output_index: count };
const inText = { ...inItem, content_index: Type.Literal(0) };
const inSummary = { ...inItem, summary_index: Type.Literal(0) };
const logprobs = Type.Array(Type.Unknown(), { maxItems: 0 });
const delta = Type.String();

const EVENTS: Readonly<Record<string, Record<string, TSchema>>> = {
  'response.created': { response: begun },
  'response.in_progress': { response: begun },
  'response.output_item.added': { output_index: count, item },
  'response.content_part.added': { ...inText, part: outputText },
  'response.output_text.delta': { ...inText, logprobs, delta },
  'response.output_text.done': { ...inText, logprobs, text: Type.String() },
  'response.content_part.done': { ...inText, part: outputText },
  'response.reasoning_summary_part.added': { ...inSummary, part: summaryText },
  'response.reasoning_summary_text.delta': { ...inSummary, delta },
  'response.reasoning_summary_text.done': { ...inSummary, text: Type.String() },
  'response.reasoning_summary_part.done': { ...inSummary, part: summaryText },
  'response.function_call_arguments.delta': { ...inItem, delta },
  'response.function_call_arguments.done': {
    ...inItem,
    name: Type.String(),
    arguments: Type.String(),
  },
  'response.custom_tool_call_input.delta': { ...inItem, delta },
  'response.custom_tool_call_input.done': { ...inItem, input: Type.String() },
  'response.output_item.done': { output_index: count, item },
  'response.completed': { response: ended },
  'response.incomplete': { response: ended },
  'response.failed': { response: failed },
  error: { ...errorMembers, param: nullable(Type.String()) },
};

export const responsesEvents: readonly TSchema[] = Object.entries(EVENTS).map(([type, members]) => {
  const numbered = { type: Type.Literal(type), sequence_number: count, ...members };
  return event(type, Type.Object(numbered));
});
