// Events and whole answers of Responses upstreams, with every oddity that servers have.

import fc from 'fast-check';
import { args, error, index, word } from './chat-chunks.ts';
import { listText, mostly, objectText } from './json-text.ts';
import { responsesUsageText } from './usage-text.ts';

const quoted = (...texts: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...texts.map((text) => JSON.stringify(text)));

const part = objectText({
  type: quoted('output_text', 'refusal', 'summary_text', 'reasoning_text'),
  text: word,
  refusal: word,
});

const item = objectText(
  {
    type: mostly(
      quoted('message', 'reasoning', 'function_call', 'custom_tool_call', 'web_search_call'),
    ),
    id: word,
    call_id: mostly(quoted('a', 'b', 'call_1', '')),
    name: mostly(fc.oneof(quoted('f', ''), word)),
    arguments: args,
    input: word,
    phase: mostly(quoted('commentary', 'final_answer')),
    content: mostly(listText(part, 3)),
    summary: mostly(listText(part, 3)),
    encrypted_content: mostly(word),
  },
  ['type'],
);

export const responseBody = objectText(
  {
    id: word,
    object: quoted('response'),
    status: mostly(quoted('completed', 'incomplete', 'failed', 'in_progress', '')),
    incomplete_details: objectText({
      reason: mostly(quoted('max_output_tokens', 'content_filter', 'x')),
    }),
    output: mostly(listText(mostly(item), 5)),
    service_tier: mostly(quoted('default', 'flex')),
    usage: mostly(responsesUsageText),
    error,
  },
  ['output'],
);

const named = (...names: readonly string[]) => ({
  type: mostly(quoted(...names.map((name) => `response.${name}`))),
  sequence_number: fc.constantFrom('0', '7', '12'),
});

export const responsesData = fc.oneof(
  objectText({ ...named('created', 'in_progress'), response: responseBody }, ['type']),
  {
    weight: 4,
    arbitrary: objectText(
      { ...named('output_item.added', 'output_item.done'), output_index: index, item },
      ['type', 'output_index', 'item'],
    ),
  },
  {
    weight: 6,
    arbitrary: objectText(
      {
        ...named(
          ...['output_text.delta', 'refusal.delta', 'reasoning_summary_text.delta'],
          ...['reasoning_text.delta', 'function_call_arguments.delta'],
          ...['function_call_arguments.done', 'custom_tool_call_input.delta'],
        ),
        output_index: index,
        content_index: index,
        summary_index: index,
        delta: mostly(word),
        arguments: args,
        obfuscation: mostly(word),
      },
      ['type', 'output_index', 'delta'],
    ),
  },
  objectText({ ...named('completed', 'incomplete', 'failed'), response: mostly(responseBody) }, [
    'type',
  ]),
  objectText({ type: quoted('error'), code: mostly(quoted('server_error')), message: word, error }),
);
