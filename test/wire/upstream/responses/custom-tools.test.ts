import { describe, expect, test } from 'bun:test';
import type { GenerationRequest } from '../../../../src/core/generation.ts';
import { OPENAI_RESPONSES } from '../../../../src/core/openai-profiles.ts';
import type { ResponsesProfile } from '../../../../src/core/responses-profile.ts';
import { customInput } from '../../../../src/wire/custom-input.ts';
import { responsesDialect } from '../../../../src/wire/upstream/responses/dialect.ts';
import { writeResponsesRequest } from '../../../../src/wire/upstream/responses/request.ts';
import { assistant, requestWith, user } from '../../../support/request.ts';
import { decode } from '../support.ts';

const CALL = { upstream: 'here', model: 'm', maxOutputTokens: 100, stream: true, reasons: true };
const GRAMMAR = { syntax: 'lark', definition: 'start: "a"' } as const;
const PATCH = {
  name: 'patch',
  description: 'Patches. The input must match.',
  parameters: { type: 'object', properties: { input: { type: 'string' } } },
  custom: { description: 'Patches.', grammar: GRAMMAR },
};
const F = { name: 'f', parameters: { type: 'object', properties: {} } };
const INPUT = 'say "hi"\n😀';

function written(
  request: Partial<GenerationRequest>,
  profile: Partial<ResponsesProfile> = {},
): Record<string, unknown> {
  const text = writeResponsesRequest(requestWith(request), CALL, {
    ...OPENAI_RESPONSES,
    ...profile,
  });
  if (typeof text !== 'string') throw new Error(text.detail);
  return JSON.parse(text);
}

describe('a custom tool at a Responses upstream', () => {
  test('is declared with its grammar, and may be forced', () => {
    const toolChoice = { kind: 'tool', name: 'patch' } as const;
    expect(written({ tools: [PATCH, F], toolChoice })).toMatchObject({
      tools: [
        {
          type: 'custom',
          name: 'patch',
          description: 'Patches.',
          format: { type: 'grammar', ...GRAMMAR },
        },
        { type: 'function', name: 'f' },
      ],
      tool_choice: { type: 'custom', name: 'patch' },
    });
  });

  test('is a function where the server has no custom tools', () => {
    const toolChoice = { kind: 'tool', name: 'patch' } as const;
    expect(written({ tools: [PATCH], toolChoice }, { customTools: 'function' })).toMatchObject({
      tools: [{ type: 'function', name: 'patch', description: PATCH.description }],
      tool_choice: { type: 'function', name: 'patch' },
    });
  });

  const turns = [
    user('Q'),
    assistant('', {
      toolCalls: [
        { id: 'call_1', name: 'patch', arguments: JSON.stringify({ input: INPUT }) },
        { id: 'call_2', name: 'f', arguments: '{}' },
      ],
    }),
    ...['call_1', 'call_2'].map((toolCallId) => {
      return { role: 'tool', toolCallId, text: 'Done.', isError: false } as const;
    }),
  ];
  test('has its earlier calls and results in the form of the server', () => {
    const { input } = written({ tools: [PATCH, F], turns }) as { input: readonly object[] };
    expect(input.slice(1)).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'patch', input: INPUT },
      { type: 'function_call', call_id: 'call_2', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done.' },
      { type: 'function_call_output', call_id: 'call_2', output: 'Done.' },
    ]);
  });

  const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'patch' };
  const events = (pieces: readonly string[], end: object | undefined): Uint8Array => {
    const list = [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
      ...pieces.map((delta) => {
        return { type: 'response.custom_tool_call_input.delta', output_index: 0, delta };
      }),
      ...(end === undefined
        ? []
        : [{ type: 'response.output_item.done', output_index: 0, item: { ...item, ...end } }]),
      { type: 'response.completed', response: { id: 'resp_1', status: 'completed' } },
    ];
    return Buffer.from(list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  };
  test.each<[name: string, pieces: readonly string[], end: object | undefined]>([
    ['in pieces', [...INPUT], { input: INPUT }],
    ['with a character split', ['say "hi"\n\ud83d', '\ude00'], { input: INPUT }],
    ['without an end', ['say "hi"', '\n😀'], undefined],
    ['in its end alone', [], { input: INPUT }],
  ])('streams its input as arguments: %s', (_name, pieces, end) => {
    const dialect = responsesDialect(OPENAI_RESPONSES);
    const decoded = decode([events(pieces, end)], dialect.stream);
    const json = decoded.events
      .flatMap((event) => (event.kind === 'tool-delta' ? [event.json] : []))
      .join('');
    expect(JSON.parse(json)).toEqual({ input: INPUT });
    expect(customInput(json)).toBe(INPUT);
    expect(decoded.events.at(-1)).toEqual({ kind: 'finish', reason: 'tool_calls' });
  });

  test('is asked for a length of the answer beside its format', () => {
    const asked = { verbosity: 'low', json: true, schema: { name: 'a', schema: {} } } as const;
    expect(written(asked)['text']).toMatchObject({
      verbosity: 'low',
      format: { type: 'json_schema' },
    });
    expect(written({ verbosity: 'low' })['text']).toEqual({ verbosity: 'low' });
    expect(written({ verbosity: 'low' }, { verbosity: 'omit' })['text']).toBeUndefined();
  });
});
