// Bodies of Responses requests, all of them valid: what clients send, and items that are ignored.

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
  toolName,
  words,
} from './request-parts.ts';
import { wholeText } from './text.ts';
import { all, list, type Members, object, optional, quoted, raw, type Tree } from './tree.ts';

type Entry = readonly [key: string, value: Tree];

const textPart = (type: string) =>
  shownText.map((text) => object(['type', quoted(type)], ['text', text]));
const image = fc
  .oneof(address, fc.constant(`data:image/png;base64,${PIXEL}`))
  .map((url) => object(['type', quoted('input_image')], ['image_url', quoted(url)]));

const content = (type: string) => fc.oneof(shownText, list(textPart(type)));
const withImages = fc.oneof(shownText, list(fc.oneof(textPart('input_text'), image)));

function message(role: string, said: fc.Arbitrary<Tree>): fc.Arbitrary<Tree> {
  return fc
    .tuple(said, all(optional('type', words('message')), optional('id', words('msg_1'))))
    .map(([tree, more]) => object(['role', quoted(role)], ['content', tree], ...more));
}

function item(type: string, ...members: readonly Members[]): fc.Arbitrary<Tree> {
  return all(...members).map((given) => object(['type', quoted(type)], ...given));
}

const needed = (key: string, value: fc.Arbitrary<Tree>): Members =>
  value.map((tree): Entry[] => [[key, tree]]);

const id = needed('call_id', callId.map(quoted));
const name = needed('name', toolName.map(quoted));
const namespace = optional('namespace', words('space', 'space__', ''));
const given = fc.oneof(jsonObjectText, jsonText, wholeText).map(quoted);
const summary = list(
  wholeText.map((text) => object(['type', quoted('summary_text')], ['text', quoted(text)])),
  { maxLength: 2 },
);

const items = fc.oneof(
  message('developer', content('input_text')),
  { weight: 3, arbitrary: message('user', withImages) },
  { weight: 2, arbitrary: message('assistant', content('output_text')) },
  item('reasoning', needed('summary', summary), optional('encrypted_content', words('x'))),
  { weight: 3, arbitrary: item('function_call', id, name, namespace, needed('arguments', given)) },
  item('custom_tool_call', id, name, namespace, needed('input', given)),
  { weight: 4, arbitrary: item('function_call_output', id, needed('output', withImages)) },
  item('custom_tool_call_output', id, needed('output', content('input_text'))),
  item('web_search_call', optional('status', words('completed'))),
);

const functionTool = (toolNames: fc.Arbitrary<string>) =>
  item(
    'function',
    needed('name', toolNames.map(quoted)),
    optional('parameters', schema),
    optional('strict', bool),
  );
const grammar = object(
  ['type', quoted('grammar')],
  ['syntax', quoted('lark')],
  ['definition', quoted('start: "a"')],
);
const tools = list(
  fc.oneof(
    functionTool(toolName),
    item('custom', needed('name', words('patch')), optional('format', fc.constant(grammar))),
    item(
      'namespace',
      needed('name', words('space', 'other__')),
      needed('tools', list(functionTool(toolName), { maxLength: 2 })),
    ),
    item('web_search'),
  ),
  { maxLength: 3 },
);

/** Some message says something. */
const conversation = fc
  .tuple(fc.array(items, { maxLength: 8 }), fc.nat({ max: 8 }), wholeText)
  .map(([given, at, text]): Tree => {
    const user = object(['role', quoted('user')], ['content', { text }]);
    return { list: given.toSpliced(at, 0, user) };
  });

const format = fc
  .tuple(words('text', 'json_object', 'json_schema'), optional('schema', schema))
  .map(([type, more]) => object(['type', type], ...more));

export const responsesBody: fc.Arbitrary<Tree> = fc
  .tuple(
    conversation,
    all(
      sampling,
      optional('instructions', shownText),
      optional('max_output_tokens', numbers('1', '4096')),
      optional('stream', bool),
      optional('tools', tools),
      optional('tool_choice', words('auto', 'none')),
      optional('parallel_tool_calls', bool),
      optional(
        'reasoning',
        all(optional('effort', words(...EFFORTS)), optional('summary', words('auto'))).map(
          (members) => object(...members),
        ),
      ),
      optional(
        'text',
        all(optional('format', format), optional('verbosity', words('low', 'loud'))).map(
          (members) => object(...members),
        ),
      ),
      optional('prompt_cache_key', words('k', '')),
      optional('user', words('me')),
      optional('background', fc.constant(raw('false'))),
    ),
  )
  .map(([input, members]) => object(['model', quoted('m')], ['input', input], ...members));
