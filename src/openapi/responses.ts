// What the Responses format answers, whole and as events.

import { type TSchema, Type } from '@sinclair/typebox';
import { count, many, named, nullable, oneOf } from '../dashboard/records/schema.ts';
import { bill, charge } from './answers.ts';
import { errorMembers, event, typedError } from './errors.ts';

const status = oneOf('in_progress', 'completed', 'incomplete');
const annotation = named('ResponseAnnotation', {
  type: Type.Literal('url_citation'),
  start_index: count,
  end_index: count,
  url: Type.String(),
  title: Type.String(),
});
const outputText = named('ResponseOutputText', {
  type: Type.Literal('output_text'),
  text: Type.String(),
  annotations: Type.Array(annotation),
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

const SUMMARY_PARTS = ['reasoning_summary_part.added', 'reasoning_summary_part.done'];
const CALL_DELTAS = ['function_call_arguments.delta', 'custom_tool_call_input.delta'];

const constant = {
  id: Type.String({ pattern: '^resp_' }),
  object: Type.Literal('response'),
  access_programs: Type.Null(),
  created_at: count,
  background: Type.Literal(false),
  model: Type.String(),
  output: many(item),
  previous_response_id: Type.Null(),
  store: Type.Literal(false),
  truncation: Type.Literal('disabled'),
};
const defaults = {
  instructions: Type.Null(),
  metadata: Type.Object({}),
  parallel_tool_calls: Type.Literal(true),
  temperature: Type.Null(),
  tool_choice: Type.Literal('auto'),
  tools: Type.Array(Type.Unknown(), { maxItems: 0 }),
  top_p: Type.Null(),
};
const textFormat = Type.Object(
  {
    type: oneOf('text', 'json_object', 'json_schema'),
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    schema: Type.Optional(Type.Object({})),
    strict: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: true },
);
const settled = {
  ...constant,
  instructions: nullable(Type.String()),
  max_output_tokens: Type.Optional(count),
  metadata: Type.Object({}),
  parallel_tool_calls: Type.Boolean(),
  reasoning: Type.Optional(Type.Object({})),
  temperature: nullable(Type.Number()),
  text: named('ResponseText', { format: textFormat, verbosity: Type.Optional(Type.String()) }),
  tool_choice: Type.Unknown(),
  tools: Type.Array(Type.Object({})),
  top_p: nullable(Type.Number()),
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
  ...defaults,
  status: Type.Literal('in_progress'),
  error: Type.Null(),
  incomplete_details: Type.Null(),
});
const usage = Type.Object({ ...counts, ...bill });
const ended = Type.Object({ ...settled, usage });
const failed = Type.Object({
  ...constant,
  ...defaults,
  status: Type.Literal('failed'),
  error: typedError,
  incomplete_details: Type.Null(),
  usage: Type.Optional(usage),
});

const text = Type.String();
const inItem = { item_id: text, output_index: count };
const inText = { ...inItem, content_index: Type.Literal(0) };
const inSummary = { ...inItem, summary_index: Type.Literal(0) };
const logprobs = Type.Array(Type.Unknown(), { maxItems: 0 });

export const responsesEvents: readonly TSchema[] = [
  events('ResponseBegunEvent', ['created', 'in_progress'], { response: begun }),
  events('ResponseItemEvent', ['output_item.added', 'output_item.done'], {
    output_index: count,
    item,
  }),
  events('ResponsePartEvent', ['content_part.added', 'content_part.done'], {
    ...inText,
    part: outputText,
  }),
  events('ResponseTextDeltaEvent', ['output_text.delta'], { ...inText, logprobs, delta: text }),
  events('ResponseAnnotationEvent', ['output_text.annotation.added'], {
    ...inText,
    annotation_index: count,
    annotation,
  }),
  events('ResponseTextDoneEvent', ['output_text.done'], { ...inText, logprobs, text }),
  events('ResponseSummaryPartEvent', SUMMARY_PARTS, { ...inSummary, part: summaryText }),
  events('ResponseSummaryDeltaEvent', ['reasoning_summary_text.delta'], {
    ...inSummary,
    delta: text,
  }),
  events('ResponseSummaryDoneEvent', ['reasoning_summary_text.done'], { ...inSummary, text }),
  events('ResponseCallDeltaEvent', CALL_DELTAS, { ...inItem, delta: text }),
  events('ResponseArgumentsDoneEvent', ['function_call_arguments.done'], {
    ...inItem,
    name: text,
    arguments: text,
  }),
  events('ResponseInputDoneEvent', ['custom_tool_call_input.done'], { ...inItem, input: text }),
  events('ResponseEndEvent', ['completed', 'incomplete'], { response: ended }),
  events('ResponseFailedEvent', ['failed'], { response: failed }),
  event(
    'error',
    named('ResponseErrorEvent', {
      type: Type.Literal('error'),
      sequence_number: count,
      ...errorMembers,
      param: nullable(text),
      error: typedError,
    }),
  ),
];

/** Events of one shape; their names are those of a response. */
function events(
  $id: string,
  names: readonly string[],
  members: Readonly<Record<string, TSchema>>,
): TSchema {
  const type = oneOf(...names.map((name) => `response.${name}`));
  return event(type, named($id, { type, sequence_number: count, ...members }));
}
