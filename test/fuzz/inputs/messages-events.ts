// Events and whole answers of Messages upstreams, with every oddity that servers have.

import fc from 'fast-check';
import { args, error, index, word } from './chat-chunks.ts';
import { jsonObjectText, jsonText, listText, mostly, objectText } from './json-text.ts';
import { messagesUsageText } from './usage-text.ts';

const blockType = fc.constantFrom(
  ...['text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use', 'x'].map((type) =>
    JSON.stringify(type),
  ),
);

const block = objectText(
  {
    type: mostly(blockType),
    text: mostly(word),
    thinking: mostly(word),
    signature: mostly(word),
    data: mostly(word),
    id: mostly(fc.constantFrom('"a"', '"b"', '"toolu_1"', '""')),
    name: mostly(fc.oneof(fc.constantFrom('"f"', '""'), word)),
    input: fc.oneof(fc.constant('{}'), jsonObjectText, jsonText),
  },
  ['type'],
);

const deltaType = fc.constantFrom(
  ...['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta', 'citations_delta'].map(
    (type) => JSON.stringify(type),
  ),
);

const blockDelta = objectText(
  { type: mostly(deltaType), text: word, thinking: word, signature: word, partial_json: args },
  ['type'],
);

const stopReason = mostly(
  fc.constantFrom(
    ...['null', '""', '"end_turn"', '"max_tokens"', '"tool_use"', '"stop_sequence"', '"refusal"'],
    ...['"pause_turn"', '"model_context_window_exceeded"'],
  ),
);

export const messageBody = objectText(
  {
    type: mostly(fc.constant('"message"')),
    id: word,
    role: mostly(fc.constant('"assistant"')),
    content: mostly(listText(mostly(block), 5)),
    stop_reason: stopReason,
    usage: mostly(messagesUsageText),
    error,
  },
  ['content'],
);

const typed = (type: string): { type: fc.Arbitrary<string> } => ({
  type: mostly(fc.constant(JSON.stringify(type))),
});

export const messagesData = fc.oneof(
  objectText({ ...typed('message_start'), message: mostly(messageBody) }, ['type']),
  {
    weight: 3,
    arbitrary: objectText(
      { ...typed('content_block_start'), index, content_block: mostly(block) },
      ['type', 'index', 'content_block'],
    ),
  },
  {
    weight: 5,
    arbitrary: objectText({ ...typed('content_block_delta'), index, delta: mostly(blockDelta) }, [
      'type',
      'index',
      'delta',
    ]),
  },
  { weight: 2, arbitrary: objectText({ ...typed('content_block_stop'), index }, ['type']) },
  objectText(
    {
      ...typed('message_delta'),
      delta: mostly(objectText({ stop_reason: stopReason })),
      usage: mostly(messagesUsageText),
    },
    ['type'],
  ),
  fc.constantFrom('{"type":"message_stop"}', '{"type":"ping"}', '{"type":"x"}'),
  objectText({
    ...typed('error'),
    error: fc.oneof(error, fc.constant('{"type":"overloaded_error"}')),
  }),
);
