// The events of a stream in the contract's two formats. `x-itemSchema` has the form of OpenAPI 3.2's `itemSchema`
// for text/event-stream: each item is an event, and `contentSchema` describes the JSON in its data.

import { type TSchema, Type } from '@sinclair/typebox';
import { count, named, nullable, oneOf } from '../dashboard/records/schema.ts';
import {
  bill,
  chatUsage,
  completionHead,
  finishReason,
  messageCounts,
  messageHead,
  messagesUsage,
  stopDetails,
  stopReason,
  textBlock,
  thinkingBlock,
  toolUseBlock,
} from './answers.ts';
import { chatError, event, messagesError } from './errors.ts';

const delta = Type.Object({
  role: Type.Optional(Type.Literal('assistant')),
  content: Type.Optional(Type.String()),
  reasoning_content: Type.Optional(Type.String()),
  tool_calls: Type.Optional(
    Type.Array(
      Type.Object({
        index: count,
        id: Type.Optional(Type.String()),
        type: Type.Optional(oneOf('function', 'custom')),
        function: Type.Optional(
          Type.Object({ name: Type.Optional(Type.String()), arguments: Type.String() }),
        ),
        custom: Type.Optional(
          Type.Object({ name: Type.Optional(Type.String()), input: Type.String() }),
        ),
      }),
    ),
  ),
});

const chatChunk = named('ChatCompletionChunk', {
  ...completionHead,
  object: Type.Literal('chat.completion.chunk'),
  system_fingerprint: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Literal(0),
      delta,
      logprobs: Type.Null(),
      finish_reason: nullable(finishReason),
    }),
    { minItems: 1, maxItems: 1 },
  ),
});

const chatEnd = {
  ...completionHead,
  choices: Type.Array(Type.Unknown(), { maxItems: 0 }),
  ...bill,
};

const chatBill = Type.Object(
  { ...chatEnd, object: Type.Literal('chat.completion.chunk'), usage: chatUsage },
  { $id: 'ChatCompletionUsage', description: 'The last event of a stream: usage and bill.' },
);

const chatBillAlone = Type.Object(
  { ...chatEnd, object: Type.Literal('chat.completion.billing') },
  {
    $id: 'ChatCompletionBilling',
    description: 'The last event where `stream_options.include_usage` is false.',
  },
);

export const chatEvents: readonly TSchema[] = [
  ...[chatChunk, chatBill, chatBillAlone, chatError].map((data) => event(undefined, data)),
  Type.Object({ data: Type.Literal('[DONE]') }),
];

const indexed = (name: string, members: Record<string, TSchema> = {}): TSchema =>
  messagesEvent(name, { index: count, ...members });

export const messagesEvents: readonly TSchema[] = [
  messagesEvent('message_start', {
    message: Type.Object({
      ...messageHead,
      content: Type.Array(Type.Unknown(), { maxItems: 0 }),
      stop_reason: Type.Null(),
      stop_sequence: Type.Null(),
      usage: Type.Object(messageCounts),
    }),
  }),
  messagesEvent('ping'),
  indexed('content_block_start', {
    content_block: Type.Union([thinkingBlock, textBlock, toolUseBlock]),
  }),
  indexed('content_block_delta', {
    delta: Type.Union([
      Type.Object({ type: Type.Literal('text_delta'), text: Type.String() }),
      Type.Object({ type: Type.Literal('thinking_delta'), thinking: Type.String() }),
      Type.Object({ type: Type.Literal('signature_delta'), signature: Type.String() }),
      Type.Object({ type: Type.Literal('input_json_delta'), partial_json: Type.String() }),
    ]),
  }),
  indexed('content_block_stop'),
  messagesEvent('message_delta', {
    delta: Type.Object({
      stop_reason: stopReason,
      stop_sequence: Type.Null(),
      stop_details: stopDetails,
    }),
    usage: Type.Object({ ...messagesUsage, ...bill }),
  }),
  messagesEvent('message_stop'),
  event('error', messagesError),
];

function messagesEvent(type: string, members: Record<string, TSchema> = {}): TSchema {
  const name = type.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return event(type, named(`${name}Event`, { type: Type.Literal(type), ...members }));
}
