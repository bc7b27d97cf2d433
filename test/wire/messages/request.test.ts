// Parsing of Messages bodies, through the reader of real requests: what is accepted, its meaning,
// and the error for the rest.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../../src/core/error.ts';
import type { GenerationRequest, Reasoning, Turn } from '../../../src/core/generation.ts';
import { parseBody } from '../../../src/wire/body.ts';
import { messagesFormat } from '../../../src/wire/messages/format.ts';
import { parseCount } from '../../../src/wire/messages/request.ts';
import { thrownBy } from '../../support/thrown.ts';
import { jsonObjectText, SIGNATURE } from './fixtures.ts';

const HELLO = { role: 'user', content: 'Hello?' };
const PNG = 'iVBORw0KGgo=';

function parseText(text: string): GenerationRequest {
  return messagesFormat.parse(parseBody(new TextEncoder().encode(text)));
}

function parse(value: unknown): GenerationRequest {
  return parseText(JSON.stringify(value));
}

function count(value: unknown): GenerationRequest {
  return parseCount({ value, text: JSON.stringify(value) });
}

function body(more: object = {}): object {
  return { model: 'swift-1', max_tokens: 100, messages: [HELLO], ...more };
}

function withMessages(...messages: unknown[]): object {
  return body({ messages });
}

function userBlocks(...content: unknown[]): object {
  return withMessages({ role: 'user', content });
}

function assistantBlocks(...content: unknown[]): object {
  return withMessages(HELLO, { role: 'assistant', content });
}

function image(source: unknown): object {
  return { type: 'image', source };
}

function tool(name: unknown, more: object = {}): object {
  return { name, input_schema: { type: 'object' }, ...more };
}

function repeat<Item>(times: number, item: Item): Item[] {
  return Array.from({ length: times }, () => item);
}

function refusal(run: () => unknown): { param: string | undefined; message: string } {
  const error = thrownBy(GatewayError, run);
  if (error === undefined) throw new Error('was accepted');
  expect(error.code).toBe('invalid_request');
  return { param: error.param, message: error.message };
}

const MINIMAL: GenerationRequest = {
  model: 'swift-1',
  system: '',
  turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello?' }] }],
  maxOutputTokens: { tokens: 100, field: 'max_tokens' },
  stop: [],
  tools: [],
  json: false,
  stream: false,
  includeUsage: true,
};

const TOOL = { name: 'f', parameters: { type: 'object', properties: {} } };

test('every field has its meaning', () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } } };
  expect(
    parse({
      model: 'swift-1',
      max_tokens: 10,
      messages: [HELLO],
      system: 'Be brief.',
      temperature: 0,
      top_p: 1,
      top_k: 5,
      stop_sequences: ['a', 'b'],
      stream: true,
      tools: [{ type: 'custom', name: 'f', description: 'F', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 1e9 },
      metadata: { user_id: 'u' },
    }),
  ).toEqual({
    ...MINIMAL,
    system: 'Be brief.',
    maxOutputTokens: { tokens: 10, field: 'max_tokens' },
    temperature: 0,
    topP: 1,
    stop: ['a', 'b'],
    stream: true,
    tools: [{ name: 'f', description: 'F', parameters: schema }],
    toolChoice: { kind: 'tool', name: 'f' },
    parallelToolCalls: false,
    reasoning: 'on',
    endUser: 'u',
  });
});

describe('accepted is', () => {
  const nulls = Object.fromEntries(
    ['system', 'temperature', 'top_p', 'stop_sequences', 'stream', 'tools', 'tool_choice']
      .concat(['thinking', 'metadata', 'output_config', 'top_k'])
      .map((field) => [field, null]),
  );
  const longUser = `${'😀'.repeat(200)}${'a'.repeat(400)}`;
  test.each<[name: string, more: object, expected: Partial<GenerationRequest>]>([
    ['a minimal body', {}, {}],
    ['null for what is absent', nulls, {}],
    ['unknown fields', { context_management: 1, service_tier: [], __proto__x: {} }, {}],
    ['any top_k', { top_k: 'x' }, {}],
    [
      'max_tokens above any model',
      { max_tokens: 1e9 },
      { maxOutputTokens: { tokens: 1e9, field: 'max_tokens' } },
    ],
    ['temperature 1', { temperature: 1 }, { temperature: 1 }],
    ['16 stop sequences', { stop_sequences: repeat(16, 'x') }, { stop: repeat(16, 'x') }],
    ['an empty system', { system: [] }, {}],
    [
      'system blocks with markers',
      {
        system: [
          { type: 'text', text: 'A', cache_control: 7 },
          { type: 'image', source: 1 },
          { type: 'text', text: 'B' },
        ],
      },
      { system: 'A\n\nB' },
    ],
    [
      'a system block that changes on every call',
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: a=1; b=2;' },
          { type: 'text', text: 'A' },
        ],
      },
      { system: 'A' },
    ],
    [
      'a system string whose first line changes on every call',
      { system: 'x-anthropic-billing-header: a=1\n\nA\nB' },
      { system: 'A\nB' },
    ],
    [
      'a long user id',
      { metadata: { user_id: longUser } },
      { endUser: `${'😀'.repeat(200)}${'a'.repeat(56)}` },
    ],
    ['metadata without a user id', { metadata: { user_id: null, x: 1 } }, {}],
    ['no tools', { tools: [], tool_choice: { type: 'any' } }, {}],
    ['a choice without tools', { tool_choice: { type: 'tool', name: 'f' } }, {}],
    [
      'tools with extras',
      {
        tools: [
          tool('f', { cache_control: {}, strict: true, defer_loading: 1, description: null }),
        ],
      },
      { tools: [TOOL] },
    ],
    [
      'tools that another service would run',
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }, tool('f')] },
      { tools: [TOOL] },
    ],
    [
      'tools of the same name',
      { tools: [tool('f', { description: 'old' }), tool('g'), tool('f')] },
      { tools: [TOOL, { ...TOOL, name: 'g' }] },
    ],
    [
      '128 tools',
      { tools: repeat(128, 0).map((_zero, index) => tool(`f${index}`)) },
      { tools: repeat(128, 0).map((_zero, index) => ({ ...TOOL, name: `f${index}` })) },
    ],
    [
      'choice auto',
      { tools: [tool('f')], tool_choice: { type: 'auto' } },
      { tools: [TOOL], toolChoice: { kind: 'auto' } },
    ],
    [
      'choice any',
      { tools: [tool('f')], tool_choice: { type: 'any' } },
      { tools: [TOOL], toolChoice: { kind: 'required' } },
    ],
    [
      'choice none with parallel calls allowed',
      { tools: [tool('f')], tool_choice: { type: 'none', disable_parallel_tool_use: false } },
      { tools: [TOOL], toolChoice: { kind: 'none' } },
    ],
  ])('%s', (_name, more, expected) => {
    expect(parse(body(more))).toEqual({ ...MINIMAL, ...expected });
  });
});

describe('thinking', () => {
  test.each<[thinking: unknown, output: unknown, Reasoning | 'absent']>([
    [{ type: 'enabled' }, undefined, 'on'],
    [{ type: 'enabled', budget_tokens: 1_000_000_000 }, undefined, 'on'],
    [{ type: 'enabled', budget_tokens: -1 }, undefined, 'on'],
    [{ type: 'enabled', budget_tokens: 0.5 }, undefined, 'on'],
    [{ type: 'adaptive', display: 'summarized' }, undefined, 'on'],
    [{ type: 'adaptive', display: 5 }, undefined, 'on'],
    [{ type: 'between_tools' }, undefined, 'on'],
    [{ type: 'never heard of' }, undefined, 'absent'],
    [{}, undefined, 'absent'],
    [{ type: 'disabled' }, undefined, 'off'],
    [undefined, { effort: 'none' }, 'off'],
    [undefined, { effort: 'medium' }, 'absent'],
    [undefined, { effort: 'max' }, 'absent'],
    [{ type: 'never heard of' }, { effort: 'high' }, 'absent'],
    [{ type: 'enabled' }, { effort: 'minimal' }, 'low'],
    [{ type: 'enabled' }, { effort: 'low' }, 'low'],
    [{ type: 'enabled' }, { effort: 'medium' }, 'high'],
    [{ type: 'enabled' }, { effort: 'high' }, 'high'],
    [{ type: 'enabled' }, { effort: 'xhigh' }, 'high'],
    [{ type: 'enabled' }, { effort: 'max' }, 'max'],
    [undefined, { effort: 'never heard of' }, 'absent'],
    [undefined, { effort: 7 }, 'absent'],
    [undefined, 'high', 'absent'],
    [{ type: 'adaptive' }, { effort: 'low' }, 'low'],
    [{ type: 'adaptive' }, { effort: 'never heard of' }, 'on'],
    [{ type: 'disabled' }, { effort: 'max' }, 'off'],
    [{ type: 'enabled' }, { effort: 'none' }, 'off'],
  ])('%j with output_config %j is %s', (thinking, output, expected) => {
    const reasoning = expected === 'absent' ? {} : { reasoning: expected };
    expect(parse(body({ thinking, output_config: output }))).toEqual({ ...MINIMAL, ...reasoning });
  });

  test('is hidden where its display is omitted', () => {
    const thinking = { type: 'adaptive', display: 'omitted' };
    expect(parse(body({ thinking }))).toEqual({
      ...MINIMAL,
      reasoning: 'on',
      hidesThinking: true,
    });
  });
});

describe('a tool of a type that Anthropic defines', () => {
  test.each([
    ['bash_20250124', 'bash', ['command', 'restart']],
    ['text_editor_20250124', 'str_replace_editor', ['command', 'path', 'new_str']],
    ['text_editor_20250728', 'str_replace_based_edit_tool', ['command', 'path', 'insert_text']],
    ['memory_20250818', 'memory', ['command', 'path', 'old_path', 'new_path']],
    ['bash_20300101', 'bash', ['command']],
  ])('is a function with a schema, too: %s', (type, name, members) => {
    const { tools } = parse(body({ tools: [{ type, name, cache_control: {}, x: 1 }] }));
    expect(tools).toEqual([
      {
        name,
        description: expect.stringMatching(/\.$/),
        parameters: {
          type: 'object',
          properties: expect.objectContaining(
            Object.fromEntries(members.map((member) => [member, expect.any(Object)])),
          ),
          required: expect.any(Array),
        },
        typed: { type, name },
      },
    ]);
  });

  test('keeps the bound of a view', () => {
    const declared = { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' };
    const tools = [{ ...declared, max_characters: 500 }];
    expect(parse(body({ tools })).tools[0]?.typed).toEqual(tools[0]);
  });

  test.each([
    ['bash_20241022', 'bash'],
    ['text_editor_20241022', 'str_replace_editor'],
  ])('is a function alone where upstreams need a header for it: %s', (type, name) => {
    const [found] = parse(body({ tools: [{ type, name }] })).tools;
    expect(found).toMatchObject({ name, parameters: { type: 'object' } });
    expect(found?.typed).toBeUndefined();
  });

  test('with a schema of its own is that function', () => {
    const tools = [tool('bash', { type: 'bash_20250124' })];
    expect(parse(body({ tools })).tools).toEqual([{ ...TOOL, name: 'bash' }]);
  });

  test('may be forced', () => {
    const tools = [{ type: 'bash_20250124', name: 'bash' }];
    const choice = { type: 'tool', name: 'bash' };
    expect(parse(body({ tools, tool_choice: choice })).toolChoice).toEqual({
      kind: 'tool',
      name: 'bash',
    });
  });
});

describe('a schema for the answer', () => {
  const schema = { type: 'object', properties: { a: { minimum: 1 } } };
  const format = { type: 'json_schema', schema };
  const asked = { json: true, schema: { name: 'answer', schema } };
  test.each<[name: string, more: object, expected: Partial<GenerationRequest>]>([
    ['beside an effort', { output_config: { effort: 'high', format } }, asked],
    ['by the name of its beta', { output_format: format }, asked],
    ['by both names', { output_config: { format }, output_format: { type: 'text' } }, asked],
    ['without a schema', { output_config: { format: { type: 'json_schema' } } }, {}],
    ['of another kind', { output_config: { format: { type: 'grammar', schema } } }, {}],
    ['that is no object', { output_config: { format: 'json_schema' }, output_format: 7 }, {}],
  ])('%s', (_name, more, expected) => {
    expect(parse(body(more))).toEqual({ ...MINIMAL, ...expected });
  });
});

const CALL = { type: 'tool_use', id: 'a', name: 'f', input: {} };
const CALL_TURN: Turn = {
  role: 'assistant',
  reasoning: '',
  text: '',
  toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }],
};
const MARK = '[An image of this result follows in the next user message.]';

function userTurn(...texts: string[]): Turn {
  return { role: 'user', parts: texts.map((text) => ({ kind: 'text', text })) };
}

function answered(content: unknown, more: object = {}): object[] {
  return [
    { role: 'assistant', content: [CALL] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content, ...more }] },
  ];
}

function resultTurns(text: string, isError = false): Turn[] {
  return [CALL_TURN, { role: 'tool', toolCallId: 'a', text, isError }];
}

function imageTurn(...urls: string[]): Turn {
  return { role: 'user', parts: urls.map((url) => ({ kind: 'image', url })) };
}

describe('messages with', () => {
  const unknown = [
    'document',
    'search_result',
    'server_tool_use',
    'compaction',
    'container_upload',
  ];
  const text = { type: 'text', text: 'A' };
  test.each<[name: string, messages: object[], turns: Turn[]]>([
    ['two user turns in a row', [HELLO, HELLO], [userTurn('Hello?'), userTurn('Hello?')]],
    [
      'an assistant first and last',
      [{ role: 'assistant', content: 'A' }],
      [{ role: 'assistant', reasoning: '', text: 'A', toolCalls: [] }],
    ],
    [
      'unknown blocks beside text',
      [{ role: 'user', content: [...unknown.map((type) => ({ type, text: 1 })), text] }],
      [userTurn('A')],
    ],
    [
      'thinking in a user turn, and empty text',
      [{ role: 'user', content: [{ type: 'thinking' }, { type: 'text', text: '' }, text] }],
      [userTurn('A')],
    ],
    ['an empty assistant turn', [HELLO, { role: 'assistant', content: '' }], [userTurn('Hello?')]],
    ['a user turn of an empty string', [{ role: 'user', content: '' }], [userTurn('')]],
    [
      'a user turn of empty text',
      [{ role: 'user', content: [{ type: 'text', text: '' }] }],
      [userTurn('')],
    ],
    [
      'a user turn of unknown blocks',
      [{ role: 'user', content: [{ type: 'x' }] }, HELLO],
      [userTurn(''), userTurn('Hello?')],
    ],
    [
      'an assistant turn of unknown blocks',
      [HELLO, { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'x' }] }],
      [userTurn('Hello?')],
    ],
    [
      'thinking, text and calls in one turn',
      [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'T' },
            { type: 'thinking', thinking: 'U', signature: '' },
            text,
            { type: 'text', text: 'B' },
            CALL,
            { type: 'tool_use', id: 'toolu_xYSBi', name: 'g', input: null },
          ],
        },
      ],
      [
        {
          role: 'assistant',
          reasoning: 'TU',
          text: 'AB',
          lacksLate: true,
          toolCalls: [
            { id: 'a', name: 'f', arguments: '{}' },
            { id: 'a b', name: 'g', arguments: '{}' },
          ],
        },
      ],
    ],
    [
      'case 129, 162: thinking of any signature is text alone, and redacted thinking is dropped',
      [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'ours ', signature: SIGNATURE },
            { type: 'thinking', thinking: 'hidden', signature: null },
            { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix' },
            { type: 'thinking', thinking: '', signature: SIGNATURE },
            { type: 'thinking', thinking: ' foreign', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' },
            CALL,
          ],
        },
      ],
      [
        {
          role: 'assistant',
          reasoning: 'ours hidden foreign',
          text: '',
          toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }],
        },
      ],
    ],
    ['a result as a string', answered('R'), resultTurns('R')],
    ['a result without content', answered(undefined), resultTurns('')],
    ['a result of null', answered(null), resultTurns('')],
    ['a result of no blocks', answered([]), resultTurns('')],
    ['a result that is an error', answered('R', { is_error: true }), resultTurns('R', true)],
    ['a result of unknown blocks', answered([{ type: 'x' }, text]), resultTurns('A')],
    [
      'a picture inside a result',
      answered([text, image({ type: 'url', url: 'https://a.example/b' }), text]),
      [...resultTurns(`A\n${MARK}\nA`), imageTurn('https://a.example/b')],
    ],
    [
      'text in front of a result with a picture',
      [
        { role: 'assistant', content: [CALL] },
        {
          role: 'user',
          content: [
            text,
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [image({ type: 'url', url: 'https://a.example/b' })],
            },
          ],
        },
      ],
      [
        ...resultTurns(MARK),
        {
          role: 'user',
          parts: [
            { kind: 'image', url: 'https://a.example/b' },
            { kind: 'text', text: 'A' },
          ],
        },
      ],
    ],
    [
      'documents, search results and found tools in a result',
      answered([
        text,
        {
          type: 'document',
          title: 'T',
          source: { type: 'text', media_type: 'text/plain', data: 'D' },
        },
        { type: 'document', source: { type: 'content', content: [text, { type: 'image' }] } },
        { type: 'document', source: { type: 'content', content: 'E' } },
        {
          type: 'search_result',
          title: 'S',
          source: 'https://a.example',
          content: [{ type: 'text', text: 'F' }],
        },
        { type: 'tool_reference', tool_name: 'g' },
      ]),
      resultTurns('A\nT\nD\nA\nE\nS\nhttps://a.example\nF\ng'),
    ],
    [
      'documents and search results of a user, in their order',
      [
        {
          role: 'user',
          content: [
            text,
            {
              type: 'document',
              title: 'T',
              context: 'C',
              source: { type: 'text', media_type: 'text/plain', data: 'D' },
            },
            { type: 'document', source: { type: 'content', content: [text] } },
            {
              type: 'search_result',
              title: 'S',
              source: 'https://a.example',
              content: [{ type: 'text', text: 'F' }],
            },
            { type: 'text', text: 'B' },
          ],
        },
      ],
      [userTurn('A', 'T', 'C', 'D', 'A', 'S', 'https://a.example', 'F', 'B')],
    ],
    [
      'blocks without text in a result',
      answered([
        { type: 'document', title: 'T', source: { type: 'base64', data: 'QQ==' } },
        ...[null, 5, {}, { type: 'text', data: 5 }, { type: 'content', content: {} }].map(
          (source) => ({ type: 'document', title: 'T', source }),
        ),
        { type: 'search_result', title: 5, content: [null, { type: 'text' }] },
        { type: 'tool_reference' },
        { type: 'something_new', text: 'A' },
      ]),
      resultTurns(''),
    ],
    [
      'more texts in a result than a call has arguments',
      answered([
        {
          type: 'search_result',
          content: [{ type: 'text', text: 'A' }, ...Array(80_000).fill(0)],
        },
        { type: 'search_result', content: Array(9_000).fill({ text: 'B' }) },
      ]),
      resultTurns(['A', ...Array(9_000).fill('B')].join('\n')),
    ],
    [
      'text in front of a result',
      [
        { role: 'assistant', content: [CALL] },
        { role: 'user', content: [text, { type: 'tool_result', tool_use_id: 'a', content: 'R' }] },
      ],
      [...resultTurns('R'), userTurn('A')],
    ],
    [
      'a result without its call',
      [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'z', content: 'R' }, text] }],
      [userTurn('Result of a tool call that does not precede it in this conversation:\nR', 'A')],
    ],
    [
      'a system message in the middle',
      [HELLO, { role: 'system', content: [{ ...text, cache_control: {} }] }],
      [userTurn('Hello?'), { role: 'system', text: 'A' }],
    ],
    [
      'a system message that says nothing',
      [HELLO, { role: 'system', content: [] }],
      [userTurn('Hello?')],
    ],
    [
      'pictures',
      [
        {
          role: 'user',
          content: [
            image({ type: 'base64', media_type: 'image/webp', data: PNG }),
            image({ type: 'base64', data: PNG }),
            image({ type: 'base64', media_type: null, data: 'R0lGODlh' }),
            image({ type: 'base64', data: 'UklGRg==' }),
            image({ type: 'base64', data: '/9j/4AAQ' }),
            image({ type: 'url', url: 'HTTP://a.example/b' }),
          ],
        },
      ],
      [
        imageTurn(
          `data:image/webp;base64,${PNG}`,
          `data:image/png;base64,${PNG}`,
          'data:image/gif;base64,R0lGODlh',
          'data:image/webp;base64,UklGRg==',
          'data:image/jpeg;base64,/9j/4AAQ',
          'HTTP://a.example/b',
        ),
      ],
    ],
  ])('%s', (_name, messages, turns) => {
    expect(parse(withMessages(...messages))).toEqual({ ...MINIMAL, turns });
  });

  test('a system message at the head joins the system prompt', () => {
    const messages = [{ role: 'system', content: 'B' }, HELLO];
    expect(parse(body({ system: 'A', messages }))).toEqual({ ...MINIMAL, system: 'A\n\nB' });
  });

  test('tool inputs keep their bytes', () => {
    fc.assert(
      fc.property(fc.array(jsonObjectText, { minLength: 1, maxLength: 3 }), (inputs) => {
        const blocks = inputs.map((input, index) => {
          return `{"type":"tool_use","id":"c${index}","input": ${input},"name":"f"}`;
        });
        const messages = `[{"role":"assistant","content":[{"type":"x"},${blocks.join(',')}]}]`;
        const request = parseText(`{"model":"m","max_tokens":1,"messages":${messages}}`);
        const toolCalls = inputs.map((input, index) => {
          return { id: `c${index}`, name: 'f', arguments: input };
        });
        expect(request.turns).toEqual([{ role: 'assistant', reasoning: '', text: '', toolCalls }]);
      }),
    );
  });

  test('the longest text, 200 of them', () => {
    const long = '😀'.repeat(300_000) + 'a'.repeat(700_000);
    expect(parse(withMessages({ role: 'user', content: long })).turns).toEqual([userTurn(long)]);
    expect(parse(withMessages(...repeat(200, HELLO))).turns).toHaveLength(200);
  });

  test('the longest text in parts: what we put between them does not count', () => {
    const half = { type: 'text', text: 'a'.repeat(500_000) };
    const content = [half, half, image({ type: 'base64', media_type: 'image/png', data: PNG })];
    const result = { type: 'tool_result', tool_use_id: 'a', content };
    expect(() => parse(userBlocks(result))).not.toThrow();
    const system = { role: 'system', content: [half, half] };
    expect(() => parse(withMessages(HELLO, system))).not.toThrow();
    const more = { ...result, content: [...content, { type: 'text', text: 'a' }] };
    expect(refusal(() => parse(userBlocks(more))).param).toBe('messages[0].content');
  });
});

describe('refused is', () => {
  const url = (value: unknown) => userBlocks(image({ type: 'url', url: value }));
  const base64 = (more: object) => userBlocks(image({ type: 'base64', data: PNG, ...more }));
  const result = (more: object) => userBlocks({ type: 'tool_result', tool_use_id: 'a', ...more });
  const choice = (value: unknown) => body({ tools: [tool('f')], tool_choice: value });
  const half = 'a'.repeat(500_001);
  test.each<[name: string, value: unknown, param: string | undefined]>([
    ['a list', [], undefined],
    ['null', null, undefined],
    ['no model', { ...body(), model: undefined }, 'model'],
    ['an empty model', body({ model: '' }), 'model'],
    ['a model of null', body({ model: null }), 'model'],
    ['no max_tokens', { ...body(), max_tokens: undefined }, 'max_tokens'],
    ['max_tokens of null', body({ max_tokens: null }), 'max_tokens'],
    ['max_tokens of 0', body({ max_tokens: 0 }), 'max_tokens'],
    ['max_tokens of -1', body({ max_tokens: -1 }), 'max_tokens'],
    ['max_tokens of 1.5', body({ max_tokens: 1.5 }), 'max_tokens'],
    ['max_tokens as text', body({ max_tokens: '100' }), 'max_tokens'],
    ['max_tokens beyond any integer', body({ max_tokens: 1e300 }), 'max_tokens'],
    ['no messages', { ...body(), messages: undefined }, 'messages'],
    ['messages of null', body({ messages: null }), 'messages'],
    ['an empty list of messages', body({ messages: [] }), 'messages'],
    ['201 messages', withMessages(...repeat(201, HELLO)), 'messages'],
    ['nothing but system messages', withMessages({ role: 'system', content: 'A' }), 'messages'],
    ['nothing but empty answers', withMessages({ role: 'assistant', content: [] }), 'messages'],
    ['a message that is a string', withMessages('x'), 'messages[0]'],
    ['a message without a role', withMessages({ content: 'A' }), 'messages[0].role'],
    ['the role tool', withMessages(HELLO, { role: 'tool', content: 'A' }), 'messages[1].role'],
    ['a message without content', withMessages({ role: 'user' }), 'messages[0].content'],
    ['content of null', withMessages({ role: 'user', content: null }), 'messages[0].content'],
    ['content that is a number', withMessages({ role: 'user', content: 1 }), 'messages[0].content'],
    ['a user turn of no blocks', userBlocks(), 'messages[0].content'],
    ['a block that is a string', userBlocks('x'), 'messages[0].content[0]'],
    ['a block without a type', userBlocks({ text: 'A' }), 'messages[0].content[0].type'],
    ['a text block without text', userBlocks({ type: 'text' }), 'messages[0].content[0].text'],
    [
      'a text block of a number',
      userBlocks({ type: 'text', text: 5 }),
      'messages[0].content[0].text',
    ],
    [
      'too long a text',
      withMessages({ role: 'user', content: `${half}${half}` }),
      'messages[0].content',
    ],
    [
      'too long a text in blocks and results',
      userBlocks(
        { type: 'text', text: half },
        { type: 'tool_result', tool_use_id: 'a', content: half },
      ),
      'messages[0].content',
    ],
    [
      'too long an answer',
      assistantBlocks({ type: 'text', text: half }, { type: 'text', text: half }),
      'messages[1].content',
    ],
    ['a call in a user turn', userBlocks(CALL), 'messages[0].content[0].type'],
    [
      'a result in an answer',
      assistantBlocks({ type: 'tool_result' }),
      'messages[1].content[0].type',
    ],
    ['a picture in an answer', assistantBlocks({ type: 'image' }), 'messages[1].content[0].type'],
    [
      'thinking without text',
      assistantBlocks({ type: 'thinking' }),
      'messages[1].content[0].thinking',
    ],
    [
      'a call without an id',
      assistantBlocks({ ...CALL, id: undefined }),
      'messages[1].content[0].id',
    ],
    [
      'a call without a name',
      assistantBlocks({ ...CALL, name: '' }),
      'messages[1].content[0].name',
    ],
    [
      'an input that is a string',
      assistantBlocks({ ...CALL, input: '{}' }),
      'messages[1].content[0].input',
    ],
    [
      'an input that is a list',
      assistantBlocks({ ...CALL, input: [] }),
      'messages[1].content[0].input',
    ],
    ['a result without an id', result({ tool_use_id: null }), 'messages[0].content[0].tool_use_id'],
    ['a result of a number', result({ content: 5 }), 'messages[0].content[0].content'],
    [
      'a bad text in a result',
      result({ content: [{ type: 'text', text: 5 }] }),
      'messages[0].content[0].content[0].text',
    ],
    ...['base64', 'url', 'file'].map((type): [string, object, string] => [
      `a document of ${type}`,
      userBlocks({ type: 'text', text: 'A' }, { type: 'document', source: { type } }),
      'messages[0].content[1].source.type',
    ]),
    [
      'too long a document',
      userBlocks(
        { type: 'text', text: half },
        { type: 'document', source: { type: 'text', data: half } },
      ),
      'messages[0].content',
    ],
    ...['computer_20250124', 'computer_toolset_20260801', 'browser_toolset_20260801'].map(
      (type): [string, object, string] => [
        `the tool ${type}`,
        body({ tools: [tool('f'), { type, name: 'computer' }] }),
        'tools[1].type',
      ],
    ),
    [
      'another name of a typed tool',
      body({ tools: [{ type: 'bash_20250124', name: 'shell' }] }),
      'tools[0].name',
    ],
    [
      'a typed tool without a name',
      body({ tools: [{ type: 'memory_20250818' }] }),
      'tools[0].name',
    ],
    ['a picture without a source', userBlocks({ type: 'image' }), 'messages[0].content[0].source'],
    [
      'a picture from a file',
      userBlocks(image({ type: 'file', file_id: 'f' })),
      'messages[0].content[0].source.type',
    ],
    ['a picture from nowhere', userBlocks(image({})), 'messages[0].content[0].source.type'],
    [
      'a picture of text',
      base64({ media_type: 'text/html' }),
      'messages[0].content[0].source.media_type',
    ],
    ['a picture without data', base64({ data: undefined }), 'messages[0].content[0].source.data'],
    ['a picture of bad base64', base64({ data: '!!' }), 'messages[0].content[0].source.data'],
    [
      'a data URL as data',
      base64({ data: `data:image/png;base64,${PNG}` }),
      'messages[0].content[0].source.data',
    ],
    ['a picture without a URL', url(undefined), 'messages[0].content[0].source.url'],
    ['a picture on disk', url('file:///etc/passwd'), 'messages[0].content[0].source.url'],
    ['a system prompt that is a number', body({ system: 5 }), 'system'],
    ['a system prompt that is an object', body({ system: {} }), 'system'],
    ['a system block of a number', body({ system: [{ type: 'text', text: 5 }] }), 'system[0].text'],
    ['temperature 1.01', body({ temperature: 1.01 }), 'temperature'],
    ['temperature -1', body({ temperature: -1 }), 'temperature'],
    ['temperature as text', body({ temperature: '1' }), 'temperature'],
    ['top_p 0', body({ top_p: 0 }), 'top_p'],
    ['top_p 1.1', body({ top_p: 1.1 }), 'top_p'],
    ['one stop sequence as text', body({ stop_sequences: 'x' }), 'stop_sequences'],
    ['17 stop sequences', body({ stop_sequences: repeat(17, 'x') }), 'stop_sequences'],
    ['an empty stop sequence', body({ stop_sequences: ['x', ''] }), 'stop_sequences[1]'],
    ['a stop sequence of a number', body({ stop_sequences: [5] }), 'stop_sequences[0]'],
    ['stream as text', body({ stream: 'true' }), 'stream'],
    ['stream as a number', body({ stream: 1 }), 'stream'],
    ['tools that are an object', body({ tools: {} }), 'tools'],
    ['129 tools', body({ tools: repeat(129, tool('f')) }), 'tools'],
    ['a tool that is null', body({ tools: [null] }), 'tools[0]'],
    ['a tool without a name', body({ tools: [tool(undefined)] }), 'tools[0].name'],
    ['a tool with an empty name', body({ tools: [tool('')] }), 'tools[0].name'],
    [
      'a tool without a schema',
      body({ tools: [tool('f'), { name: 'g' }] }),
      'tools[1].input_schema',
    ],
    [
      'a tool in the shape of the other format',
      body({ tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] }),
      'tools[0].name',
    ],
    [
      'a tool whose schema is text',
      body({ tools: [tool('f', { input_schema: '{}' })] }),
      'tools[0].input_schema',
    ],
    [
      'a tool described by a number',
      body({ tools: [tool('f', { description: 5 })] }),
      'tools[0].description',
    ],
    ['a choice that is a string', choice('auto'), 'tool_choice'],
    ['a choice without a type', choice({}), 'tool_choice.type'],
    ['a choice of another format', choice({ type: 'function' }), 'tool_choice.type'],
    ['a choice of no tool', choice({ type: 'tool' }), 'tool_choice.name'],
    [
      'a choice of no tool, without tools',
      body({ tool_choice: { type: 'tool' } }),
      'tool_choice.name',
    ],
    ['a choice of an unknown tool', choice({ type: 'tool', name: 'g' }), 'tool_choice.name'],
    [
      'parallel use as text',
      choice({ type: 'auto', disable_parallel_tool_use: 'yes' }),
      'tool_choice.disable_parallel_tool_use',
    ],
    ['thinking as text', body({ thinking: 'enabled' }), 'thinking'],
    ['a type of thinking that is a number', body({ thinking: { type: 5 } }), 'thinking.type'],
    [
      'a budget as text',
      body({ thinking: { type: 'enabled', budget_tokens: 'x' } }),
      'thinking.budget_tokens',
    ],
    ['metadata as text', body({ metadata: 'x' }), 'metadata'],
    ['a user id that is a number', body({ metadata: { user_id: 5 } }), 'metadata.user_id'],
    ['a user id with NUL', body({ metadata: { user_id: 'a\0' } }), 'metadata.user_id'],
  ])('%s', (_name, value, param) => {
    const parsed = { value, text: JSON.stringify(value) };
    expect(refusal(() => messagesFormat.parse(parsed)).param).toBe(param);
  });

  test('with words for a number that has no bounds', () => {
    const thinking = { type: 'enabled', budget_tokens: '1024' };
    const { message } = refusal(() => parse(body({ thinking })));
    expect(message).toBe('thinking.budget_tokens: must be a number');
  });

  test('never with the value that the caller sent', () => {
    const secret = 'sesame';
    const bodies = [
      body({ thinking: secret }),
      withMessages({ role: secret, content: 'A' }),
      userBlocks(image({ type: secret })),
      userBlocks(image({ type: 'url', url: secret })),
      body({ tools: [tool('f')], tool_choice: { type: 'tool', name: secret } }),
      body({ temperature: secret }),
      body({ tools: [{ name: secret }] }),
    ];
    for (const value of bodies) expect(refusal(() => parse(value)).message).not.toContain(secret);
  });
});

describe('a conversation that the server should remember', () => {
  test('is refused with the word on which clients send all of it', () => {
    const thread = { type: 'continue', previous_message_id: 'msg_1' };
    const error = thrownBy(GatewayError, () => parse(body({ thread })));
    if (error === undefined) throw new Error('not refused');
    expect(JSON.parse(messagesFormat.error(error, 'req_1'))).toEqual({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'thread: this service keeps no conversations. Send all messages, without a thread to continue.',
        code: 'invalid_request',
        request_id: 'req_1',
        param: 'thread',
        details: { error_code: 'thread_not_found' },
      },
    });
  });

  test.each([[{ type: 'create' }], [{}], ['x'], [null], [7]])(
    'is none where nothing is continued: %j',
    (thread) => {
      expect(parse(body({ thread }))).toEqual(parse(body()));
    },
  );
});

describe('a token count', () => {
  test('needs no max_tokens', () => {
    const { maxOutputTokens: _bound, ...unbounded } = MINIMAL;
    expect(count({ model: 'swift-1', messages: [HELLO] })).toEqual(unbounded);
    expect(count({ model: 'swift-1', messages: [HELLO], max_tokens: null })).toEqual(unbounded);
  });

  test('reads everything else as a request does', () => {
    expect(count(body({ system: 'A', tools: [tool('f')] }))).toEqual(
      parse(body({ system: 'A', tools: [tool('f')] })),
    );
    expect(refusal(() => count(body({ max_tokens: 0 }))).param).toBe('max_tokens');
    expect(refusal(() => count(body({ messages: [] }))).param).toBe('messages');
  });
});

test('any body, it is read or refused', () => {
  const junk = fc.jsonValue();
  const block = fc.record(
    {
      type: fc.constantFrom('text', 'image', 'tool_use', 'tool_result', 'thinking', 'x'),
      text: fc.string(),
      id: fc.constantFrom('a', 'b'),
      name: fc.string(),
      input: junk,
      tool_use_id: fc.constantFrom('a', 'b', 'c'),
      content: junk,
      source: junk,
      thinking: fc.string(),
    },
    { requiredKeys: ['type'] },
  );
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: fc.oneof(fc.string(), fc.array(block), junk),
  });
  const fields = ['system', 'tools', 'tool_choice', 'thinking', 'metadata', 'stop_sequences', 'x'];
  const more = fc.dictionary(fc.constantFrom(...fields), junk, { maxKeys: 2 });
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 5 }), more, (messages, extra) => {
      try {
        const request = parse(body({ ...extra, messages }));
        expect(request.turns.length).toBeGreaterThan(0);
        accepted += 1;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        expect(error.code).toBe('invalid_request');
      }
    }),
    { numRuns: 1_000 },
  );
  expect(accepted).toBeGreaterThan(2);
});
