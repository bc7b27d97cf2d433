// Chunks and whole answers of chat-completions upstreams, with every oddity that servers have.

import fc from 'fast-check';
import { jsonObjectText, listText, mostly, objectText, stringText } from './json-text.ts';
import { anyText } from './text.ts';
import { chatUsageText } from './usage-text.ts';

export const word = stringText(anyText);
export const index = mostly(fc.constantFrom('0', '0', '1', '2', '-1', 'null'));

/** Arguments as text, in parts as well, or as the object itself. */
export const args = fc.oneof(
  stringText(jsonObjectText),
  stringText(jsonObjectText.map((text) => text.slice(0, text.length / 2))),
  jsonObjectText,
  word,
);

const piece = objectText({
  index,
  id: mostly(fc.constantFrom('"a"', '"b"', '"c"', '""', 'null')),
  type: mostly(fc.constant('"function"')),
  function: mostly(
    objectText({
      name: mostly(fc.oneof(fc.constantFrom('"f"', '"g"', '""'), word)),
      arguments: args,
    }),
  ),
});

const part = objectText({
  type: fc.constantFrom('"text"', '"thinking"', '"image"', 'null'),
  text: word,
  thinking: fc.oneof(word, listText(objectText({ type: fc.constant('"text"'), text: word }), 2)),
});

const content = mostly(fc.oneof(word, word, fc.constant('null'), listText(part, 3)));

const message = objectText({
  role: mostly(fc.constantFrom('"assistant"', '""')),
  content,
  reasoning_content: mostly(word),
  reasoning: mostly(word),
  refusal: mostly(fc.constant('null')),
  tool_calls: mostly(listText(piece, 3)),
  function_call: mostly(fc.constantFrom('null', '{"name":"f","arguments":"{}"}')),
});

const finishReason = mostly(
  fc.constantFrom(
    ...['null', 'null', '""', '"stop"', '"length"', '"tool_calls"', '"content_filter"', '"STOP"'],
    ...['"error"', '"insufficient_system_resource"', '"eos"'],
  ),
);

export const error = fc.constantFrom(
  ...['null', '""', '"x"', '{"message":"maximum context length","code":429}', '{}', '[]'],
);

export function chatBody(member: 'delta' | 'message'): fc.Arbitrary<string> {
  const choice = objectText({ index, [member]: mostly(message), finish_reason: finishReason }, [
    member,
  ]);
  const choices = mostly(
    fc.oneof(
      choice.map((text) => `[${text}]`),
      listText(choice, 2),
    ),
  );
  return fc
    .tuple(
      objectText({ id: word, created: mostly(fc.constant('1')), choices }, ['choices']),
      fc.oneof(
        { weight: 8, arbitrary: fc.constant('') },
        { weight: 1, arbitrary: chatUsageText.map((text) => `"usage":${text},`) },
        { weight: 1, arbitrary: error.map((text) => `"error":${text},`) },
      ),
    )
    .map(([text, more]) => `{${more}${text.slice(1)}`);
}
