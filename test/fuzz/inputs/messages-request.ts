// Bodies of Messages requests, all of them valid: what the documents promise, and what clients send
// beyond it.

import fc from 'fast-check';
import { jsonObjectText } from './json-text.ts';
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
import { all, list, object, optional, quoted, raw, type Tree } from './tree.ts';

const textBlock = shownText.map((text) => object(['type', quoted('text')], ['text', text]));

/** An empty user message is refused, so these have at least one character. */
const solidBlock = solidText.map((text) =>
  object(
    ['type', quoted('text')],
    ['text', { text }],
    ['cache_control', raw('{"type":"ephemeral"}')],
  ),
);

const imageBlock = fc
  .oneof(
    address.map((url) => object(['type', quoted('url')], ['url', quoted(url)])),
    fc.constant(
      object(
        ['type', quoted('base64')],
        ['media_type', quoted('image/png')],
        ['data', quoted(PIXEL)],
      ),
    ),
    fc.constant(object(['type', quoted('base64')], ['data', quoted(PIXEL)])),
  )
  .map((source) => object(['type', quoted('image')], ['source', source]));

const otherBlock = fc.constantFrom(
  raw('{"type":"document","source":{"type":"text","data":"x"}}'),
  raw('{"type":"server_tool_use","id":"a","name":"b","input":{}}'),
);

const resultBlock = fc
  .tuple(
    callId,
    all(
      optional('content', fc.oneof(shownText, list(fc.oneof(textBlock, imageBlock, otherBlock)))),
      optional('is_error', bool),
    ),
  )
  .map(([id, members]) =>
    object(['type', quoted('tool_result')], ['tool_use_id', quoted(id)], ...members),
  );

const useBlock = fc
  .tuple(callId, toolName, optional('input', jsonObjectText.map(raw)))
  .map(([id, name, input]) =>
    object(['type', quoted('tool_use')], ['id', quoted(id)], ['name', quoted(name)], ...input),
  );

const thinkingBlock = fc.oneof(
  fc
    .tuple(wholeText, optional('signature', words('', 'tg1.dG9sbGdhdGU=', 'other')))
    .map(([text, signature]) =>
      object(['type', quoted('thinking')], ['thinking', quoted(text)], ...signature.filter(isSet)),
    ),
  fc.constant(raw('{"type":"redacted_thinking","data":"x"}')),
);

function isSet([, value]: readonly [string, Tree]): boolean {
  return !('raw' in value && value.raw === 'null');
}

function blocks(role: string, ...groups: readonly fc.Arbitrary<Tree>[]): fc.Arbitrary<Tree> {
  const lists = fc
    .tuple(...groups)
    .map((trees) => trees.flatMap((tree) => ('list' in tree ? tree.list : [])));
  return lists.map((all) => object(['role', quoted(role)], ['content', { list: all }]));
}

const messagesEntry = fc.oneof(
  fc
    .tuple(fc.constantFrom('user', 'assistant', 'system'), solidText)
    .map(([role, text]) => object(['role', quoted(role)], ['content', { text }])),
  blocks('system', list(solidBlock)),
  blocks(
    'user',
    list(fc.oneof(solidBlock, imageBlock, otherBlock)),
    list(solidBlock, { minLength: 1 }),
  ),
  {
    weight: 2,
    arbitrary: blocks(
      'user',
      list(fc.oneof(resultBlock, textBlock)),
      list(resultBlock, { minLength: 1 }),
    ),
  },
  {
    weight: 3,
    arbitrary: blocks(
      'assistant',
      list(thinkingBlock, { maxLength: 1 }),
      list(textBlock),
      list(useBlock),
      list(otherBlock, { maxLength: 1 }),
    ),
  },
);

const messagesTool = fc
  .tuple(
    toolName,
    schema,
    all(optional('description', words('x')), optional('type', words('custom'))),
  )
  .map(([name, parameters, members]) =>
    object(['name', quoted(name)], ['input_schema', parameters], ...members),
  );

const typedTool = words('bash_20250124', 'bash_20241022', 'bash_20300101').map((type) =>
  object(['type', type], ['name', quoted('bash')]),
);

const answerFormat = fc
  .tuple(words('json_schema', 'text'), optional('schema', schema))
  .map(([type, members]) => object(['type', type], ...members));

/** The last message is the user's, so that there always is something to answer. */
export const messagesBody: fc.Arbitrary<Tree> = fc
  .tuple(
    fc.array(messagesEntry, { maxLength: 8 }),
    solidText,
    all(
      optional(
        'system',
        fc.oneof(
          solidText.map((text): Tree => ({ text })),
          list(solidBlock),
        ),
      ),
      sampling,
      optional('top_k', numbers('-1', '40')),
      optional('stop_sequences', stops()),
      optional('stream', bool),
      optional('tools', list(fc.oneof({ weight: 3, arbitrary: messagesTool }, typedTool))),
      optional(
        'tool_choice',
        fc
          .tuple(words('auto', 'any', 'none'), optional('disable_parallel_tool_use', bool))
          .map(([type, members]) => object(['type', type], ...members)),
      ),
      optional(
        'thinking',
        fc
          .tuple(
            words('enabled', 'disabled', 'adaptive', 'x'),
            optional('budget_tokens', numbers('1024', '0', '-1')),
            optional('display', words('omitted', 'summarized')),
          )
          .map(([type, ...members]) => object(['type', type], ...members.flat())),
      ),
      optional(
        'output_config',
        all(optional('effort', words(...EFFORTS)), optional('format', answerFormat)).map(
          (members) => object(...members),
        ),
      ),
      optional('output_format', answerFormat),
      optional(
        'metadata',
        fc.constantFrom('x', 'é😀'.repeat(300)).map((id) => object(['user_id', quoted(id)])),
      ),
    ),
  )
  .map(([entries, last, members]) =>
    object(
      ['model', quoted('swift-1')],
      ['max_tokens', raw('1000')],
      [
        'messages',
        { list: [...entries, object(['role', quoted('user')], ['content', { text: last }])] },
      ],
      ...members,
    ),
  );
