// Bodies of chat-completions requests, all of them valid: what the documents promise, and what
// clients send beyond it.

import fc from 'fast-check';
import { jsonObjectText, jsonText } from './json-text.ts';
import {
  address,
  bool,
  callId,
  EFFORTS,
  numbers,
  PIXEL,
  sampling,
  schema,
  shownText,
  stops,
  toolName,
  words,
} from './request-parts.ts';
import { solidText, wholeText } from './text.ts';
import { all, list, type Members, object, optional, quoted, raw, type Tree } from './tree.ts';

const chatText = fc.oneof(
  shownText,
  list(
    shownText.map((text) => object(['type', quoted('text')], ['text', text])),
    { minLength: 1 },
  ),
);

const chatImage = fc
  .oneof(address, fc.constant(`data:image/png;base64,${PIXEL}`))
  .map((url) => object(['type', quoted('image_url')], ['image_url', object(['url', quoted(url)])]));

const chatParts = fc.oneof(
  { weight: 2, arbitrary: chatText },
  {
    weight: 1,
    arbitrary: list(
      fc.oneof(
        shownText.map((text) => object(['type', quoted('text')], ['text', text])),
        chatImage,
      ),
      { minLength: 1 },
    ),
  },
);

const customCall = fc
  .record({ id: callId, name: toolName, input: wholeText })
  .map(({ id, name, input }) =>
    object(
      ['id', quoted(id)],
      ['type', quoted('custom')],
      ['custom', object(['name', quoted(name)], ['input', quoted(input)])],
    ),
  );

const chatCall = fc
  .record({ id: callId, name: toolName, given: fc.oneof(jsonObjectText, jsonText, wholeText) })
  .map(({ id, name, given }) =>
    object(
      ['id', quoted(id)],
      ['type', quoted('function')],
      ['function', object(['name', quoted(name)], ['arguments', quoted(given)])],
    ),
  );

function chatMessage(role: string, content: fc.Arbitrary<Tree>, ...more: readonly Members[]) {
  return fc
    .tuple(content, all(...more))
    .map(([tree, members]) => object(['role', quoted(role)], ['content', tree], ...members));
}

const name = optional('name', words('Bob', 'Zoë', 'Ann Lee', '</s>', ''));
const thought = optional('reasoning_content', wholeText.map(quoted));

const chatMessages = fc.oneof(
  chatMessage('system', chatText),
  chatMessage('developer', chatText),
  { weight: 3, arbitrary: chatMessage('user', chatParts, name) },
  { weight: 2, arbitrary: chatMessage('assistant', chatText, name, thought) },
  {
    weight: 3,
    arbitrary: chatMessage(
      'assistant',
      fc.oneof(fc.constant(raw('null')), chatText),
      thought,
      list(fc.oneof({ weight: 3, arbitrary: chatCall }, customCall), { minLength: 1 }).map(
        (calls): [string, Tree][] => [['tool_calls', calls]],
      ),
    ),
  },
  {
    weight: 4,
    arbitrary: chatMessage(
      'tool',
      chatParts,
      callId.map((id): [string, Tree][] => [['tool_call_id', quoted(id)]]),
    ),
  },
);

const chatTools = fc
  .uniqueArray(toolName, { maxLength: 3 })
  .chain((names) => fc.tuple(fc.constant(names), fc.array(schema, { minLength: 3, maxLength: 3 })))
  .map(([names, schemas]) => ({
    list: names.map((name, index) =>
      index === 2
        ? object(['type', quoted('custom')], ['custom', object(['name', quoted(name)])])
        : object(
            ['type', quoted('function')],
            [
              'function',
              object(['name', quoted(name)], ['parameters', schemas[index] ?? raw('{}')]),
            ],
          ),
    ),
  }));

const jsonSchema = fc
  .tuple(
    all(
      optional('name', words('weather', 'not a name')),
      optional('description', words('The weather.', '')),
      optional('schema', schema),
      optional('strict', bool),
    ),
  )
  .map(([members]) => object(...members));

/** Some message says something. */
const conversation = fc
  .tuple(fc.array(chatMessages, { maxLength: 8 }), fc.nat({ max: 8 }), wholeText)
  .map(([messages, at, text]): Tree => {
    const user = object(['role', quoted('user')], ['content', { text }]);
    return { list: messages.toSpliced(at, 0, user) };
  });

export const chatBody: fc.Arbitrary<Tree> = fc
  .tuple(
    conversation,
    all(
      sampling,
      optional('max_tokens', numbers('1', '4096')),
      optional('max_completion_tokens', numbers('1', '8192.0')),
      optional('frequency_penalty', numbers('-2', '0', '2')),
      optional('presence_penalty', numbers('-2', '0', '2')),
      optional('stop', fc.oneof(solidText.map(quoted), stops())),
      optional('stream', bool),
      optional(
        'stream_options',
        bool.map((value) => object(['include_usage', value])),
      ),
      optional(
        'response_format',
        fc
          .tuple(words('text', 'json_object', 'json_schema'), optional('json_schema', jsonSchema))
          .map(([type, members]) => object(['type', type], ...members)),
      ),
      optional('tools', chatTools),
      optional('tool_choice', words('none', 'auto')),
      optional('reasoning_effort', words(...EFFORTS)),
      optional(
        'thinking',
        words('enabled', 'disabled', 'adaptive').map((type) => object(['type', type])),
      ),
      optional(
        'reasoning',
        all(
          optional('effort', words(...EFFORTS, 'x')),
          optional('enabled', bool),
          optional('max_tokens', numbers('0', '1024')),
          optional('exclude', bool),
        ).map((members) => object(...members)),
      ),
      optional('verbosity', words('low', 'medium', 'high', 'x')),
      optional('prompt_cache_key', words('k', '')),
      optional(
        'user',
        wholeText.map((text) => quoted(text.replaceAll('\0', ''))),
      ),
      optional('n', numbers('1')),
      optional('parallel_tool_calls', bool),
    ),
  )
  .map(([messages, members]) =>
    object(['model', quoted('swift-1')], ['messages', messages], ...members),
  );
